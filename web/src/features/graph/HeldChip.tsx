import { CircleAlert, CircleCheck, Loader } from "lucide-react";
import { useEffect, useRef } from "react";
import { createPortal } from "react-dom";

import type { Merge } from "@/api";
import { plural } from "@/lib/format";
import { AlongText } from "@/ui";

import { lightOf, sentenceOf, sourceName, VERB_WORDS } from "./offers";
import type { Held } from "./useHold";

export interface HeldChipProps {
  held: Held;
  start: { x: number; y: number };
  /** What a drop here would give, once it is known. */
  preview: Merge | undefined;
  problem: string | undefined;
}

function Told({ preview, problem }: Pick<HeldChipProps, "preview" | "problem">) {
  if (problem !== undefined) return <span className="text-attention">{problem}</span>;
  if (preview === undefined) {
    return (
      <span className="flex items-center gap-1 text-muted">
        <Loader aria-hidden size={13} /> Checking
      </span>
    );
  }
  const light = lightOf(preview.outcome);
  if (light === "none") return <span className="text-muted">Nothing to do: it is there already</span>;
  return light === "good" ? (
    <span className="flex items-center gap-1 text-good">
      <CircleCheck aria-hidden size={13} /> No conflicts
    </span>
  ) : (
    <span className="flex items-center gap-1 text-attention">
      <CircleAlert aria-hidden size={13} /> {plural(preview.conflicts.length, "conflict")}
    </span>
  );
}

/** Follows the pointer and says what a drop would do. */
export function HeldChip({ held, start, preview, problem }: HeldChipProps) {
  const chip = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const move = (event: PointerEvent) => {
      if (chip.current) chip.current.style.translate = `${event.clientX + 14}px ${event.clientY + 14}px`;
    };
    window.addEventListener("pointermove", move);
    document.body.classList.add("cursor-grabbing", "select-none");
    return () => {
      window.removeEventListener("pointermove", move);
      document.body.classList.remove("cursor-grabbing", "select-none");
    };
  }, []);
  const { source, over, verb } = held;
  return createPortal(
    <div
      ref={chip}
      role="status"
      className="floating pointer-events-none fixed top-0 left-0 z-50 max-w-90 px-2.5 py-1.5 text-xs"
      style={{ translate: `${start.x + 14}px ${start.y + 14}px` }}
    >
      {over === null ? (
        <>
          <p className="font-medium">{`${VERB_WORDS[verb]} ${sourceName(verb, source)} …`}</p>
          <p className="text-muted">Drop it on a branch</p>
        </>
      ) : (
        <>
          <p className="font-medium">{sentenceOf({ verb, source, onto: over })}</p>
          <Told preview={preview} problem={problem} />
          {preview !== undefined && (
            <p className="text-muted">
              <AlongText come={preview.conversation} go={preview.conversation_removed} />
            </p>
          )}
        </>
      )}
      <p className="mt-1 text-muted">{source.isBranch ? "Shift: rebase · Alt: cherry-pick" : "Shift: merge up to it · or choose after the drop"}</p>
    </div>,
    document.body,
  );
}
