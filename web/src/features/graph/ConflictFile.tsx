import { useState } from "react";

import { Chip, TextArea } from "@/ui";

import { ClashCard } from "./ClashCard";
import { hasMarkers, isClash, joined, segmentsOf, type Choice } from "./conflicts";
import type { Decision } from "./resolutions";

export interface ConflictFileProps {
  path: string;
  marked: string;
  /** Whose the two sides are. */
  names: { ours: string; theirs: string };
  onDecide: (decision: Decision) => void;
}

const CONTEXT = 4;

/** Lines next to a clash, so that one knows where it is. */
function nearby(text: string, { above, below }: { above: boolean; below: boolean }): string {
  const lines = text.replace(/\n$/, "").split("\n");
  if (lines.length <= CONTEXT * (Number(above) + Number(below))) return lines.join("\n");
  return [...(above ? lines.slice(0, CONTEXT) : []), "⋯", ...(below ? lines.slice(-CONTEXT) : [])].join("\n");
}

/** One text file: place by place, or the whole of it by hand. */
export function ConflictFile({ path, marked, names, onDecide }: ConflictFileProps) {
  const [segments] = useState(() => segmentsOf(marked));
  const [choices, setChoices] = useState<Record<number, Choice>>({});
  const [whole, setWhole] = useState<string | null>(null);
  const places = segments.flatMap((segment, i) => (isClash(segment) ? [i] : []));

  const choose = (place: number, choice: Choice | undefined) => {
    const next = { ...choices };
    if (choice === undefined) Reflect.deleteProperty(next, place);
    else next[place] = choice;
    setChoices(next);
    onDecide(joined(segments, next) ?? undefined);
  };
  const write = (text: string) => {
    setWhole(text);
    onDecide(hasMarkers(text) ? undefined : text);
  };
  const byHand = () => write(joined(segments, choices) ?? marked);
  const byPlace = () => {
    setWhole(null);
    onDecide(joined(segments, choices) ?? undefined);
  };

  return (
    <section aria-label={`Conflicts in ${path}`} className="flex flex-col gap-3">
      <div role="group" aria-label="How to resolve" className="flex flex-wrap items-center gap-1.5">
        <Chip pressed={whole === null} onClick={byPlace}>
          Place by place
        </Chip>
        <Chip pressed={whole !== null} onClick={whole === null ? byHand : () => undefined}>
          Edit the whole file
        </Chip>
        <span className="min-w-0 flex-1 truncate text-right font-mono text-xs text-muted" title={path}>
          {path}
        </span>
      </div>
      {whole !== null ? (
        <TextArea
          aria-label={`Text of ${path}`}
          className="font-mono text-xs"
          rows={16}
          most={24}
          wrap="off"
          spellCheck={false}
          value={whole}
          onChange={(event) => write(event.target.value)}
          hint={hasMarkers(whole) ? "Lines with <<<<<<<, ======= and >>>>>>> mark what is left to decide." : "No marks are left: the file is decided."}
        />
      ) : (
        segments.map((segment, i) =>
          isClash(segment) ? (
            <ClashCard
              key={i}
              number={places.indexOf(i) + 1}
              total={places.length}
              clash={segment}
              names={names}
              choice={choices[i]}
              onChoose={(choice) => choose(i, choice)}
            />
          ) : (
            <pre key={i} className="overflow-x-auto px-2 font-mono text-xs leading-5 text-muted">
              {nearby(segment.same, { above: i > 0, below: i < segments.length - 1 })}
            </pre>
          ),
        )
      )}
    </section>
  );
}
