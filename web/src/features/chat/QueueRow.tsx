import { Clock3, Pencil, X } from "lucide-react";

import { Button, IconButton } from "@/ui";

export interface QueueRowProps {
  queue: string[];
  /** They do not go by themselves: the last turn failed. */
  isHeld: boolean;
  onSend: (at: number) => void;
  onEdit: (at: number) => void;
  onRemove: (at: number) => void;
}

/** What will be said when the turn has ended. */
export function QueueRow({ queue, isHeld, onSend, onEdit, onRemove }: QueueRowProps) {
  return (
    <ul aria-label="Queued messages" className="mb-1 flex flex-col gap-1">
      {queue.map((text, i) => (
        <li key={i} className="flex h-7 items-center gap-2 rounded-md border border-line bg-surface-1 pr-0.5 pl-3 text-xs">
          <Clock3 aria-hidden size={13} className="shrink-0 text-muted" />
          <span className="shrink-0 text-muted">{isHeld ? "Held back" : "Next"}</span>
          <span className="min-w-0 flex-1 truncate" title={text}>{text}</span>
          {isHeld && i === 0 && <Button small kind="quiet" onClick={() => onSend(i)}>Send now</Button>}
          <IconButton small icon={Pencil} label="Write it anew" onClick={() => onEdit(i)} />
          <IconButton small icon={X} label="Do not send it" onClick={() => onRemove(i)} />
        </li>
      ))}
    </ul>
  );
}
