import { CircleAlert, CircleSlash, CircleX, GitBranch } from "lucide-react";

import { Button } from "@/ui";

import type { ShownTurn } from "./parts";
import type { TurnCallbacks } from "./TurnView";

const WORDS = {
  cancelled: { icon: CircleSlash, color: "text-muted", title: "Stopped by you." },
  limited: { icon: CircleAlert, color: "text-attention", title: "Stopped at a limit." },
  failed: { icon: CircleX, color: "text-bad", title: "The turn failed." },
};

/** How a turn ended that did not end well: what happened, what to do. */
export function TurnTrouble({ turn, locked, on }: { turn: ShownTurn; locked: boolean; on: TurnCallbacks }) {
  if (turn.state === "aside") {
    const kept = turn.keptOn ?? "";
    return (
      <div role="status" className="flex items-start gap-2 rounded-md border border-line px-3 py-2">
        <GitBranch aria-hidden size={16} className="mt-0.5 shrink-0 text-attention" />
        <p className="min-w-0 flex-1 break-words">
          The branch moved while this turn was under way, so its work was set aside on <code className="font-mono text-xs">{kept}</code>.
          Nothing is lost; merge it when you like.
        </p>
        <Button small onClick={() => on.openBranch(kept)}>
          Open {kept.length > 24 ? "that branch" : kept}
        </Button>
      </div>
    );
  }
  const { icon: Icon, color, title } = WORDS[turn.state as keyof typeof WORDS];
  const told = turn.state === "cancelled" ? "What was said is kept; no file was changed." : turn.reason;
  return (
    <div role="status" className="flex items-start gap-2 rounded-md border border-line px-3 py-2">
      <Icon aria-hidden size={16} className={`mt-0.5 shrink-0 ${color}`} />
      <div className="min-w-0 flex-1 break-words">
        <p className="font-medium">{title}</p>
        {told !== "" && <p className="text-muted">{told}</p>}
      </div>
      {!locked && turn.asked !== "" && (
        <Button small onClick={() => on.again(turn)}>
          Try again
        </Button>
      )}
    </div>
  );
}
