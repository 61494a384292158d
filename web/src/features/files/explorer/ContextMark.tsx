import { useState } from "react";

import { plural } from "@/lib/format";
import { Tooltip } from "@/ui";

import { explained, type ContextState, type InContext } from "./marks";

const WORDS: Record<ContextState, string> = { not: "not in context", partial: "partly in context", full: "in context" };

function Dot({ state }: { state: ContextState }) {
  return (
    <svg aria-hidden width="11" height="11" viewBox="0 0 24 24" className={state === "not" ? "opacity-50" : "text-accent"}>
      <circle cx="12" cy="12" r="10" fill="none" stroke="currentColor" strokeWidth={state === "not" ? 2.5 : 3} />
      {state !== "not" && <path d={state === "full" ? "M12 3a9 9 0 0 1 0 18a9 9 0 0 1 0-18" : "M12 3a9 9 0 0 1 0 18z"} fill="currentColor" />}
    </svg>
  );
}

interface MarkProps {
  state: ContextState;
  label: string;
  text: string;
  fixed: boolean;
  onToggle: () => void;
}

/** A button of its own; from the keyboard, Space on the row does the same. */
function Mark({ state, label, text, fixed, onToggle }: MarkProps) {
  // Rows come and go while one scrolls: only the one under the pointer has to have a tooltip. It lies inside the button, which
  // must stay the same element: a click whose press and release are on two of them is none.
  const [pointed, setPointed] = useState(false);
  return (
    <button
      type="button"
      tabIndex={-1}
      aria-label={label}
      aria-pressed={state === "partial" ? "mixed" : state === "full"}
      aria-disabled={fixed}
      onPointerEnter={() => setPointed(true)}
      onClick={(event) => {
        event.stopPropagation();
        if (!fixed) onToggle();
      }}
      onDoubleClick={(event) => event.stopPropagation()}
      className="relative flex size-6 shrink-0 items-center justify-center rounded-sm text-muted hover:text-accent aria-disabled:cursor-default"
    >
      <Dot state={state} />
      {pointed && (
        <Tooltip text={text} side="right">
          <span className="absolute inset-0" />
        </Tooltip>
      )}
    </button>
  );
}

export interface ContextMarkProps {
  name: string;
  context: InContext;
  /** Why it cannot be changed now, if so. */
  refusal?: string | undefined;
  onToggle: () => void;
}

/** ○ not, ◐ partly, ● wholly before the agent. */
export function ContextMark({ name, context, refusal, onToggle }: ContextMarkProps) {
  const fixed = refusal !== undefined || context.fixed;
  return <Mark state={context.state} label={`${name}: ${WORDS[context.state]}`} text={refusal ?? explained(context)} fixed={fixed} onToggle={onToggle} />;
}

export interface FolderMarkProps extends Omit<ContextMarkProps, "context"> {
  /** How many files below are in context. */
  below: number;
}

export function FolderMark({ name, below, refusal, onToggle }: FolderMarkProps) {
  const none = below === 0;
  const text = none
    ? "Nothing below is in the agent's context. Click to add the whole folder."
    : `${plural(below, "file")} below in the agent's context. Click to take ${below === 1 ? "it" : "them"} out.`;
  const label = none ? `${name}: not in context` : `${name}: ${below} below in context`;
  return <Mark state={none ? "not" : "partial"} label={label} text={refusal ?? text} fixed={refusal !== undefined} onToggle={onToggle} />;
}
