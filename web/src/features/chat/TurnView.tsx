import { Brain } from "lucide-react";
import { memo } from "react";

import { CommitRow } from "./CommitRow";
import { Disclosure } from "./Disclosure";
import { asksPerson, withoutSubject, type Part, type ShownTurn } from "./parts";
import { Prose } from "./Prose";
import { QuestionRow } from "./QuestionRow";
import { SaidCard } from "./SaidCard";
import { ToolRow } from "./ToolRow";
import { TurnTrouble } from "./TurnTrouble";

export interface TurnCallbacks {
  /** The message is written again, on a branch of its own. */
  edit: (turn: ShownTurn) => void;
  fork: (turn: ShownTurn) => void;
  undo: (turn: ShownTurn) => void;
  rewind: (turn: ShownTurn) => void;
  again: (turn: ShownTurn) => void;
  openFile: (path: string) => void;
  openBranch: (branch: string) => void;
}

export interface TurnViewProps {
  repo: string;
  turn: ShownTurn;
  /** The newest of its branch: it can be undone; older ones can be gone back to. */
  isLast: boolean;
  /** Nothing may be changed: a turn is under way, or this is the past. */
  locked: boolean;
  on: TurnCallbacks;
}

interface PartViewProps {
  part: Part;
  over: boolean;
  /** It is still being said. */
  growing: boolean;
  onLink: (href: string) => void;
}

function PartView({ part, over, growing, onLink }: PartViewProps) {
  switch (part.kind) {
    case "text": {
      const said = withoutSubject(part.text);
      return said === "" ? null : <Prose text={said} growing={growing} onLink={onLink} />;
    }
    case "thinking":
      return (
        <Disclosure content={() => <p className="max-w-[68ch] py-1 whitespace-pre-wrap text-muted">{part.text}</p>}>
          <Brain aria-hidden size={14} className="shrink-0 text-muted" />
          <span className="text-muted">Thinking</span>
        </Disclosure>
      );
    case "note":
      return <p className="text-xs text-muted">{part.text}</p>;
    case "call":
      return asksPerson(part.call) ? <QuestionRow call={part.call} over={over} /> : <ToolRow call={part.call} over={over} />;
  }
}

/** A text keeps its name from its first piece until it is read from the branch, so that it is not drawn anew. */
function named(turn: ShownTurn): { key: string; part: Part; growing: boolean }[] {
  const seen = { text: 0, thinking: 0, note: 0, call: 0 };
  const growing = turn.streaming !== "";
  const parts: Part[] = growing ? [...turn.parts, { kind: "text", text: turn.streaming }] : turn.parts;
  return parts.map((part, i) => ({ key: `${part.kind} ${seen[part.kind]++}`, part, growing: growing && i === parts.length - 1 }));
}

/** The person's words, what was done, what was said, and how it ended. */
export const TurnView = memo(function TurnView({ repo, turn, isLast, locked, on }: TurnViewProps) {
  const under = turn.state === "running" || turn.state === "queued";
  return (
    <article aria-label={turn.number === null ? "New turn" : `Turn ${turn.number}`} data-turn={turn.mark} className="flex flex-col gap-2 py-3">
      <SaidCard turn={turn} locked={locked || turn.commit === null} onEdit={on.edit} />
      {named(turn).map(({ key, part, growing }) => (
        <PartView key={key} part={part} over={!under} growing={growing} onLink={on.openFile} />
      ))}
      {turn.state !== "done" && !under && <TurnTrouble turn={turn} locked={locked} on={on} />}
      {turn.commit !== null && !under && turn.state !== "aside" && (
        <CommitRow repo={repo} turn={turn} commit={turn.commit} isLast={isLast} locked={locked} on={on} />
      )}
    </article>
  );
});
