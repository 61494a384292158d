import { X } from "lucide-react";
import { useEffect, useState, type KeyboardEvent } from "react";

import { useRepository } from "@/api";
import { classNames } from "@/lib/class_names";
import { shortId } from "@/lib/format";
import { Button, CommitId, EmptyState, ErrorState, IconButton, RelativeTime, Skeleton } from "@/ui";

import { ComparedFile } from "../diff/ComparedFile";
import { useHistory } from "./useHistory";

export interface HistoryPaneProps {
  repo: string;
  branch: string;
  at?: string | undefined;
  path: string;
  onClose: () => void;
}

/** The commits of a file at the right, and beside them what is different since the chosen one. */
export function HistoryPane({ repo, branch, at, path, onClose }: HistoryPaneProps) {
  const now = at ?? branch;
  const history = useHistory(repo, now, path);
  const main = useRepository(repo).data?.default_branch ?? null;
  const [chosen, choose] = useState<string>();
  const first = history.commits[1] ?? history.commits[0];
  const against = chosen ?? first?.id;

  useEffect(() => {
    const close = (event: globalThis.KeyboardEvent) => event.key === "Escape" && !event.defaultPrevented && onClose();
    window.addEventListener("keydown", close);
    return () => window.removeEventListener("keydown", close);
  }, [onClose]);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const place = history.commits.findIndex((commit) => commit.id === against);
    const next = history.commits[place + step];
    if (next === undefined) return;
    choose(next.id);
    document.getElementById(`history-${next.id}`)?.focus();
  };

  return (
    <div className="flex h-full min-h-0">
      <div className="min-w-0 flex-1">
        {against === undefined ? (
          history.isPending ? <Skeleton /> : <EmptyState>No commit on this branch has touched {path}.</EmptyState>
        ) : (
          <ComparedFile repo={repo} from={against} to={now} branch={at === undefined ? branch : undefined} path={path} fromName={against === main ? main : shortId(against)} toName={at === undefined ? "now" : shortId(at)} />
        )}
      </div>
      <aside aria-label="History of the file" className="flex w-64 shrink-0 flex-col border-l border-line bg-surface-1">
        <header className="flex h-8 shrink-0 items-center gap-1 pr-1 pl-3">
          <h3 className="flex-1 text-xs font-medium text-muted">Compare with</h3>
          <IconButton small icon={X} label="Close the history" keys="escape" onClick={onClose} />
        </header>
        {main !== null && main !== branch && (
          <Button small kind="quiet" aria-pressed={against === main} className="mx-2 mb-1 justify-start aria-pressed:bg-surface-2" onClick={() => choose(main)}>
            The file on {main}
          </Button>
        )}
        {history.error !== null && <ErrorState compact error={history.error} onRetry={() => void history.refetch()} />}
        <ul className="min-h-0 flex-1 overflow-auto pb-2">
          {history.commits.map((commit) => (
            <li key={commit.id} className={classNames("flex items-start border-t border-line pr-1", against === commit.id && "bg-surface-2")}>
              <button
                type="button"
                id={`history-${commit.id}`}
                aria-pressed={against === commit.id}
                onKeyDown={onKeyDown}
                onClick={() => choose(commit.id)}
                className="focus-inset min-w-0 flex-1 px-3 py-1.5 text-left"
              >
                <span className="block truncate">{commit.subject}</span>
                <span className="flex gap-1 text-xs text-muted">
                  <span className="truncate">{commit.author.name}</span>·<RelativeTime time={commit.time} />
                </span>
              </button>
              <span className="pt-1.5">
                <CommitId commit={commit.id} />
              </span>
            </li>
          ))}
        </ul>
        {history.hasNextPage && (
          <Button small className="m-2" busy={history.isFetchingNextPage} onClick={() => void history.fetchNextPage()}>
            Older commits
          </Button>
        )}
      </aside>
    </div>
  );
}
