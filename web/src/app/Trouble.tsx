/** Addresses that lead nowhere, and screens that broke. */
import { Link, type ErrorComponentProps } from "@tanstack/react-router";
import { Compass } from "lucide-react";

import { EmptyState, ErrorState } from "@/ui";

export function Missing() {
  return (
    <EmptyState icon={Compass} title="Nothing is here" action={<Link to="/" className="text-accent underline">Go home</Link>}>
      This address leads nowhere. It may have been renamed or deleted.
    </EmptyState>
  );
}

export function Broken({ error, reset }: ErrorComponentProps) {
  return <ErrorState error={error} onRetry={reset} />;
}
