import { Square, TriangleAlert } from "lucide-react";

import { Button } from "./Button";
import { Menu } from "./Menu";

export interface RetryRowProps {
  text: string;
  /** Who could answer instead. */
  others: { value: string; label: string }[];
  isStopping: boolean;
  onStop: () => void;
  /** Stop, and ask another model the same. */
  onSwitch: (value: string) => void;
}

/** Trouble with the model while it lasts: what it is, when it is asked again, and the two ways out. */
export function RetryRow({ text, others, isStopping, onStop, onSwitch }: RetryRowProps) {
  return (
    <div role="status" aria-label="Model trouble" className="mx-auto flex w-full max-w-190 flex-wrap items-center gap-2 px-5 py-2">
      <TriangleAlert aria-hidden size={16} className="shrink-0 text-attention" />
      <p className="min-w-40 flex-1 break-words">{text}</p>
      <Button small icon={Square} busy={isStopping} onClick={onStop}>
        {isStopping ? "Stopping" : "Stop"}
      </Button>
      {others.length > 0 && (
        <Menu side="top" entries={others.map(({ value, label }) => ({ label, onSelect: () => onSwitch(value) }))}>
          <Button small disabled={isStopping}>Switch model</Button>
        </Menu>
      )}
    </div>
  );
}
