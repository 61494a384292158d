import type { SelectHTMLAttributes } from "react";

import { classNames } from "@/lib/class_names";

/** The browser's own: it works by keyboard and touch everywhere. */
export function Select({ className, children, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <select className={classNames("h-8 min-w-0 rounded-md border border-line bg-surface-0 px-2 disabled:opacity-60", className)} {...rest}>
      {children}
    </select>
  );
}
