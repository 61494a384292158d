import { FileDiff, GitCommitHorizontal, GitFork, History, MessageSquare, Undo2, type LucideIcon } from "lucide-react";
import { useState } from "react";

import { useDiff } from "@/api";
import { counted, plural } from "@/lib/format";
import { CommitId, Cost } from "@/ui";

import type { ShownTurn } from "./parts";
import { TurnDiff } from "./TurnDiff";
import type { TurnCallbacks } from "./TurnView";
import { useSeen } from "./seen";

export interface CommitRowProps {
  repo: string;
  turn: ShownTurn;
  commit: string;
  isLast: boolean;
  locked: boolean;
  on: TurnCallbacks;
}

interface ActProps {
  icon: LucideIcon;
  label: string;
  onClick: () => void;
  expanded?: boolean;
  disabled?: boolean;
}

function Act({ icon: Icon, label, onClick, expanded, disabled }: ActProps) {
  return (
    <button
      type="button"
      aria-expanded={expanded}
      disabled={disabled}
      onClick={onClick}
      className="inline-flex h-6 items-center gap-1 rounded-sm px-1.5 text-xs text-muted transition-colors enabled:hover:bg-surface-2 enabled:hover:text-text disabled:opacity-50"
    >
      <Icon aria-hidden size={13} />
      {label}
    </button>
  );
}

/** The end of a turn: what it changed, what it took, and what can be done from here. */
export function CommitRow({ repo, turn, commit, isLast, locked, on }: CommitRowProps) {
  const [open, setOpen] = useState(false);
  const [ref, seen] = useSeen();
  const changed = turn.files.length > 0;
  const diff = useDiff(repo, { new: commit }, seen && changed);
  const files = (diff.data?.files ?? []).filter((file) => turn.files.includes(file.path));
  const [added, removed] = [sum(files.map((file) => file.additions)), sum(files.map((file) => file.deletions))];
  const tokens = turn.spent.input + turn.spent.output;
  return (
    <section ref={ref} aria-label="End of the turn" className="mt-1 border-t border-line pt-1.5">
      <div className="flex min-h-6 flex-wrap items-center gap-x-2 gap-y-0.5 text-xs text-muted">
        <span className="flex min-w-0 items-center gap-2">
          {changed ? <GitCommitHorizontal aria-hidden size={14} className="shrink-0" /> : <MessageSquare aria-hidden size={13} className="shrink-0" />}
          {changed && <span className="min-w-0 truncate text-sm font-medium text-text">{turn.subject ?? turn.asked.split("\n")[0]}</span>}
        </span>
        <CommitId commit={commit} />
        <span>
          {changed ? plural(turn.files.length, "file") : "No files changed"}
          {changed && diff.data && (
            <>
              {" "}
              <span className="text-good">+{added}</span> <span className="text-bad">−{removed}</span>
            </>
          )}
        </span>
        <span title={`${turn.model} · ${plural(tokens, "token")}`}>
          <Cost dollars={turn.spent.cost} /> · {counted(tokens, "token")}
        </span>
        <span className="ml-auto flex flex-wrap items-center">
          {changed && <Act icon={FileDiff} label="Diff" expanded={open} onClick={() => setOpen(!open)} />}
          <Act icon={GitFork} label="Fork from here" disabled={locked} onClick={() => on.fork(turn)} />
          {isLast ? (
            <Act icon={Undo2} label="Undo" disabled={locked} onClick={() => on.undo(turn)} />
          ) : (
            <Act icon={History} label="Go back to here" disabled={locked} onClick={() => on.rewind(turn)} />
          )}
        </span>
      </div>
      {open && <TurnDiff repo={repo} commit={commit} files={files} isPending={diff.isPending} error={diff.error} />}
    </section>
  );
}

function sum(numbers: (number | null)[]): number {
  return numbers.reduce<number>((total, each) => total + (each ?? 0), 0);
}
