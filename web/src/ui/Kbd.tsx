import { shownKeys } from "@/lib/shortcuts";

/** A shortcut as written for commands ("mod+k"), shown as keys. */
export function Kbd({ keys }: { keys: string }) {
  return (
    <span className="inline-flex gap-0.5">
      {shownKeys(keys).map((key, i) => (
        <kbd key={i} className="rounded-sm border border-line bg-surface-1 px-1 font-sans text-xs text-muted">
          {key}
        </kbd>
      ))}
    </span>
  );
}
