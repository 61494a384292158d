import { Pencil } from "lucide-react";

import { IconButton, RelativeTime } from "@/ui";

import type { ShownTurn } from "./parts";

export interface SaidCardProps {
  turn: ShownTurn;
  locked: boolean;
  onEdit: (turn: ShownTurn) => void;
}

/** What the person said, as it was written. */
export function SaidCard({ turn, locked, onEdit }: SaidCardProps) {
  return (
    <div className="group flex items-start gap-2 rounded-md border border-line bg-surface-1 py-2 pr-1.5 pl-3">
      <div className="min-w-0 flex-1 py-0.5 break-words whitespace-pre-wrap">
        {turn.asked === "" ? <span className="text-muted">A message from another window</span> : turn.asked}
      </div>
      <span className="shrink-0 pt-1 text-xs text-muted">{turn.state === "queued" ? "queued" : <RelativeTime time={turn.started} />}</span>
      {/* It keeps its place while it cannot be used, so that nothing moves when a turn ends. */}
      <IconButton
        small
        icon={Pencil}
        label="Edit and fork"
        disabled={locked}
        onClick={() => onEdit(turn)}
        className="opacity-0 enabled:group-hover:opacity-100 enabled:focus-visible:opacity-100 enabled:pointer-coarse:opacity-100 disabled:invisible"
      />
    </div>
  );
}
