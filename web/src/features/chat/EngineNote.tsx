import { Link } from "@tanstack/react-router";
import { Info, X } from "lucide-react";

import { settingsPlace } from "@/lib/places";
import { useStored } from "@/lib/stored";
import { IconButton } from "@/ui";

/** Said until it is dismissed once. */
export function EngineNote() {
  const [told, setTold] = useStored("chat:engine-note", false);
  if (told) return null;
  return (
    <div role="note" className="mb-2 flex items-start gap-2 rounded-md border border-line bg-surface-1 py-1.5 pr-1 pl-3 text-xs">
      <Info aria-hidden size={14} className="mt-0.5 shrink-0 text-muted" />
      <p className="min-w-0 flex-1 py-0.5">
        No model is set up, so the built-in engine answers: rules, not a model.{" "}
        <Link {...settingsPlace("models")} className="text-accent underline underline-offset-2">
          Set up a model
        </Link>
      </p>
      <IconButton small icon={X} label="Dismiss" onClick={() => setTold(true)} />
    </div>
  );
}
