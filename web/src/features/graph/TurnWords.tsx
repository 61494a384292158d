import { Link } from "@tanstack/react-router";

import { branchPlace } from "@/lib/places";
import { Cost, ErrorState, Markdown, Skeleton } from "@/ui";

import { useTurnAt } from "./queries";

export interface TurnWordsProps {
  repo: string;
  /** A branch whose conversation has the turn. */
  branch: string | undefined;
  commit: string;
}

/** The last line may be the subject of the commit, which stands above already. */
function withoutSubject(text: string): string {
  return text.replace(/^\s*[*_`#]*Commit:.*$/im, "").trim();
}

/** What was asked and answered in the turn that made this commit. */
export function TurnWords({ repo, branch, commit }: TurnWordsProps) {
  const { data: turn, error, refetch } = useTurnAt(repo, branch, commit, true);
  if (error) return <ErrorState compact error={error} onRetry={() => void refetch()} />;
  if (turn === undefined) return <Skeleton lines={2} label="Loading the conversation" />;
  if (turn === null) return <p className="px-3 py-2 text-muted">The words of this turn are not on record here.</p>;
  const answered = withoutSubject(turn.answered);
  return (
    <div className="flex flex-col gap-2 px-3 py-2">
      <p className="rounded-md border border-line bg-surface-1 px-3 py-2 break-words whitespace-pre-wrap">{turn.asked}</p>
      {answered !== "" && <Markdown text={answered} />}
      <p className="flex flex-wrap gap-x-2 text-xs text-muted">
        <span>{`Turn ${turn.number}`}</span>
        <span>{turn.model}</span>
        <Cost dollars={turn.usage.cost} />
        {branch !== undefined && (
          <Link {...branchPlace({ repo, branch, at: commit, tab: "chat" })} className="text-accent underline underline-offset-2">
            Open the conversation here
          </Link>
        )}
      </p>
    </div>
  );
}
