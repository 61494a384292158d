import { CircleAlert, CircleCheck } from "lucide-react";
import { useState } from "react";

import type { Merge } from "@/api";
import { classNames } from "@/lib/class_names";
import { plural, shortId, shortPath } from "@/lib/format";
import { Button } from "@/ui";

import { ConflictFile } from "./ConflictFile";
import { openCount, resolutionsOf, type Decision, type Resolution } from "./resolutions";
import { WholeFile } from "./WholeFile";

export interface ConflictDeskProps {
  repo: string;
  view: Merge;
  /** What comes in, as people call it. */
  theirs: string;
  /** What the last button says. */
  action: string;
  busy: boolean;
  onCancel: () => void;
  onResolved: (resolutions: Resolution[]) => void;
}

/** "3f2c1ab Plant lilies": the commit at which a chain has stopped. */
function stepName(view: Merge): string {
  const step = view.steps.find((each) => each.original === view.stopped_at);
  return `${shortId(view.stopped_at ?? "")} ${step?.subject ?? ""}`.trim();
}

/** Files in conflict one after the other; when each is decided, the last button commits. */
export function ConflictDesk({ repo, view, theirs, action, busy, onCancel, onResolved }: ConflictDeskProps) {
  const [decisions, setDecisions] = useState<Record<string, Decision>>({});
  const [path, setPath] = useState(view.conflicts[0]?.path ?? "");
  // Files that were looked at stay, with what was chosen in them.
  const [seen, setSeen] = useState<readonly string[]>([path]);
  const names = { ours: view.kind === "rebase" ? "what it goes onto" : view.target, theirs: view.stopped_at === null ? theirs : stepName(view) };
  const open = openCount(view, decisions);
  const later = view.steps.some((step) => step.state === "waiting");
  const decide = (which: string) => (decision: Decision) => setDecisions((before) => ({ ...before, [which]: decision }));
  const look = (which: string) => {
    setPath(which);
    setSeen((before) => (before.includes(which) ? before : [...before, which]));
  };
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-col gap-3 md:flex-row">
        <ul aria-label="Files in conflict" className="flex shrink-0 flex-col gap-0.5 md:w-52">
          {view.conflicts.map((each) => {
            const decided = decisions[each.path] !== undefined;
            const Icon = decided ? CircleCheck : CircleAlert;
            return (
              <li key={each.path}>
                <button
                  type="button"
                  aria-current={each.path === path}
                  onClick={() => look(each.path)}
                  className={classNames(
                    "flex w-full items-center gap-1.5 rounded-md px-2 py-1 text-left",
                    each.path === path ? "bg-surface-2" : "hover:bg-surface-1",
                  )}
                >
                  <Icon
                    size={14}
                    className={classNames("shrink-0", decided ? "text-good" : "text-attention")}
                    aria-label={decided ? "Resolved" : "Open"}
                  />
                  <span title={each.path} className="truncate">
                    {shortPath(each.path, 30)}
                  </span>
                </button>
              </li>
            );
          })}
        </ul>
        <div className="min-w-0 flex-1">
          {view.conflicts
            .filter((each) => seen.includes(each.path))
            .map((each) => (
              <div key={each.path} hidden={each.path !== path}>
                {each.marked !== null ? (
                  <ConflictFile path={each.path} marked={each.marked} names={names} onDecide={decide(each.path)} />
                ) : (
                  <WholeFile repo={repo} conflict={each} view={view} names={names} decision={decisions[each.path]} onDecide={decide(each.path)} />
                )}
              </div>
            ))}
        </div>
      </div>
      <footer className="sticky -bottom-3 -mx-4 -mb-3 flex items-center justify-end gap-2 border-t border-line bg-surface-0 px-4 py-3">
        <p role="status" className="flex-1 text-muted">
          {open === 0 ? "Everything is decided." : `${plural(open, "file")} left to decide`}
        </p>
        <Button onClick={onCancel}>Cancel</Button>
        <Button kind="primary" disabled={open > 0} busy={busy} onClick={() => onResolved(resolutionsOf(view, decisions))}>
          {later ? "Continue with the next commit" : action}
        </Button>
      </footer>
    </div>
  );
}
