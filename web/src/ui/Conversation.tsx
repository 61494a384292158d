import { brought, type Brought } from "@/lib/format";

import { Chip } from "./Badge";

export type Along = "keep" | "squash" | "drop";

const CHOICES: Record<Along, string> = { keep: "Keep", squash: "Summary only", drop: "Leave out" };

export interface AlongProps {
  come?: Brought | null;
  go?: Brought | null;
}

/** What goes along of a conversation, and what is lost of one. */
export function AlongText({ come, go }: AlongProps) {
  return (
    <>
      {come && <span className="block">{`+ ${brought(come)}`}</span>}
      {go && <span className="block">{`− ${brought(go)}`}</span>}
    </>
  );
}

export interface ConversationChoiceProps extends AlongProps {
  /** Undefined: not known yet. */
  chosen: Along | undefined;
  onChoose: (along: Along) => void;
}

/** What comes along of a conversation: everything, a summary or nothing. */
export function ConversationChoice({ chosen, onChoose, come, go }: ConversationChoiceProps) {
  return (
    <section aria-label="Conversation">
      <h3 className="pb-1 text-xs font-semibold text-muted">Conversation</h3>
      <div role="group" aria-label="What comes along" className="flex flex-wrap gap-1.5">
        {(Object.keys(CHOICES) as Along[]).map((each) => (
          <Chip key={each} pressed={chosen === each} onClick={() => onChoose(each)}>
            {CHOICES[each]}
          </Chip>
        ))}
      </div>
      <p className="min-h-5 pt-1 text-xs text-muted">
        {come || go ? <AlongText come={come ?? null} go={go ?? null} /> : chosen === "drop" && "Nothing of it comes along."}
      </p>
    </section>
  );
}
