import { useRef } from "react";

import { classNames } from "@/lib/class_names";
import { Badge, Button, TextArea } from "@/ui";

import { chosenText, type Choice, type Clash } from "./conflicts";

export interface ClashCardProps {
  number: number;
  total: number;
  clash: Clash;
  /** Whose the two sides are. */
  names: { ours: string; theirs: string };
  choice: Choice | undefined;
  onChoose: (choice: Choice | undefined) => void;
}

function Side({ name, text, taken }: { name: string; text: string; taken: boolean }) {
  return (
    <div className={classNames("flex min-w-0 flex-1 flex-col rounded-md border", taken ? "border-good" : "border-line")}>
      <p className="truncate border-b border-line bg-surface-1 px-2 py-0.5 text-xs text-muted">{name}</p>
      <pre className="min-h-6 flex-1 overflow-x-auto px-2 py-1 font-mono text-xs leading-5">
        {text === "" ? <span className="text-muted italic">nothing</span> : text}
      </pre>
    </div>
  );
}

/** One place where both sides changed the same lines. */
export function ClashCard({ number, total, clash, names, choice, onChoose }: ClashCardProps) {
  const text = useRef<HTMLTextAreaElement>(null);
  const written = typeof choice === "object";
  const edit = () => {
    onChoose({ text: choice === undefined ? clash.ours : chosenText(clash, choice) });
    requestAnimationFrame(() => text.current?.focus());
  };
  return (
    <div role="group" aria-label={`Conflict ${number} of ${total}`} className="flex flex-col gap-2 rounded-md border border-line p-2">
      <div className="flex flex-wrap items-center gap-1.5">
        <span className="flex-1 text-xs font-medium">
          {choice === undefined ? (
            <Badge meaning="attention">{`Conflict ${number} of ${total}`}</Badge>
          ) : (
            <Badge meaning="good">{`Conflict ${number} of ${total} decided`}</Badge>
          )}
        </span>
        <Button small aria-pressed={choice === "ours"} onClick={() => onChoose("ours")}>
          Take ours
        </Button>
        <Button small aria-pressed={choice === "theirs"} onClick={() => onChoose("theirs")}>
          Take theirs
        </Button>
        <Button small aria-pressed={choice === "both"} onClick={() => onChoose("both")}>
          Take both
        </Button>
        <Button small aria-pressed={written} onClick={edit}>
          Edit
        </Button>
      </div>
      <div className="flex flex-col gap-2 sm:flex-row">
        <Side name={`Ours: ${names.ours}`} text={clash.ours} taken={choice === "ours" || choice === "both"} />
        <Side name={`Theirs: ${names.theirs}`} text={clash.theirs} taken={choice === "theirs" || choice === "both"} />
      </div>
      {written && (
        <TextArea
          ref={text}
          aria-label={`Text for conflict ${number}`}
          className="font-mono text-xs"
          wrap="off"
          spellCheck={false}
          value={choice.text}
          onChange={(event) => onChoose({ text: event.target.value })}
        />
      )}
    </div>
  );
}
