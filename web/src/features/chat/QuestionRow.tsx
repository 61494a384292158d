import { Check, MessageCircleQuestion, X } from "lucide-react";
import { memo } from "react";

import type { Call } from "./parts";

export interface QuestionRowProps {
  call: Call;
  /** The turn has ended: who has not answered will not. */
  over: boolean;
}

/** What the agent asked and what it was told; while it waits, the card below has the question. */
export const QuestionRow = memo(function QuestionRow({ call, over }: QuestionRowProps) {
  const asked = typeof call.arguments?.question === "string" ? call.arguments.question : call.about;
  const isAnswered = call.result !== null && !call.failed;
  const isOpen = call.result === null && !over;
  return (
    <div role="group" aria-label="Question and answer" className="flex items-start gap-2 py-0.5">
      <MessageCircleQuestion aria-hidden size={14} className="mt-0.5 shrink-0 text-muted" />
      {isOpen ? (
        <p className="text-muted">The agent waits for an answer.</p>
      ) : (
        <div className="min-w-0 flex-1 break-words whitespace-pre-wrap">
          <p>{asked}</p>
          <p className="flex items-start gap-1.5 text-muted">
            {isAnswered ? <Check aria-hidden size={13} className="mt-1 shrink-0 text-good" /> : <X aria-hidden size={13} className="mt-1 shrink-0" />}
            <span className="min-w-0">{isAnswered ? `Answered: ${call.result ?? ""}` : "Not answered"}</span>
          </p>
        </div>
      )}
    </div>
  );
});
