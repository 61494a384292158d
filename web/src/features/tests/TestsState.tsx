import { FlaskConical } from "lucide-react";

import { useTests } from "@/api";
import { classNames } from "@/lib/class_names";
import { Badge, Tooltip } from "@/ui";

import { verdictOf } from "./verdict";

export interface TestsStateProps {
  repo: string;
  branch: string;
  selected: boolean;
  onSelect: () => void;
}

/** In the header of a branch: what the last test run came to; leads to the results. */
export function TestsState({ repo, branch, selected, onSelect }: TestsStateProps) {
  const { data } = useTests(repo, branch);
  const last = data?.last ?? null;
  const running = data?.running !== null && data?.running !== undefined;
  const verdict = last === null ? null : verdictOf(last);
  const stale = last !== null && !last.current;
  const words = running ? "Tests running" : verdict === null ? "Tests" : stale ? `Tests: ${verdict.text}, files changed since` : `Tests: ${verdict.text}`;
  return (
    <Tooltip text={words} keys="mod+shift+u">
      <button
        type="button"
        aria-label={words}
        aria-pressed={selected}
        onClick={onSelect}
        className="flex h-6 shrink-0 items-center gap-1 rounded-md px-1.5 text-xs text-muted hover:bg-surface-2 hover:text-text aria-pressed:bg-surface-2 aria-pressed:text-text"
      >
        {running ? (
          <Badge meaning="running">Tests</Badge>
        ) : verdict === null ? (
          <>
            <FlaskConical aria-hidden size={14} />
            <span className="max-sm:hidden">Tests</span>
          </>
        ) : (
          <Badge meaning={verdict.meaning} className={classNames(stale && "opacity-60")}>
            <span className="max-sm:hidden">{verdict.text}</span>
          </Badge>
        )}
      </button>
    </Tooltip>
  );
}
