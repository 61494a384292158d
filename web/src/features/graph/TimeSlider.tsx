import { GitBranchPlus, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { useCommits } from "@/api";
import { exactTime, relativeTime, shortId } from "@/lib/format";
import { useCommand } from "@/lib/commands";
import { Button, ErrorState, ProgressLine } from "@/ui";

import { BranchFrom } from "./BranchFrom";
import { isByAgent } from "./labels";

export interface TimeSliderProps {
  repo: string;
  branch: string;
  /** Undefined: now. */
  at: string | undefined;
  onChange: (at: string | undefined) => void;
}

const SETTLE = 120;

/** Slides through the commits of a branch: the newest at the right end. Files and conversation follow. */
export function TimeSlider({ repo, branch, at, onChange }: TimeSliderProps) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetching } = useCommits(repo, { rev: branch }, 500);
  const commits = data?.pages.flatMap((page) => page.items) ?? [];
  // While the thumb moves, its place is ahead of the address.
  const [moving, setMoving] = useState<number | null>(null);
  const [forking, setForking] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  const last = commits.length - 1;
  const found = at === undefined ? 0 : commits.findIndex((commit) => commit.id === at || commit.id.startsWith(at));
  const place = moving ?? Math.max(0, found);
  const shown = commits[place];
  const missing = at !== undefined && found < 0;
  // An old commit may be on a page that is not there yet; so may be what comes next on the way back.
  useEffect(() => {
    if (hasNextPage && !isFetching && (missing || place > last - 50)) void fetchNextPage();
  }, [hasNextPage, isFetching, missing, place, last, fetchNextPage]);

  const go = (next: number, at_once = false) => {
    const to = Math.max(0, Math.min(next, last));
    setMoving(to);
    clearTimeout(timer.current);
    timer.current = setTimeout(
      () => {
        onChange(to === 0 ? undefined : commits[to]?.id);
        setMoving(null);
      },
      at_once ? 0 : SETTLE,
    );
  };
  useCommand({ id: "time.back", title: "Back to now", group: "Time travel", run: () => go(0, true), enabled: at !== undefined });
  useCommand({ id: "time.older", title: "One commit back in time", group: "Time travel", keys: "alt+[", run: () => go(place + 1), enabled: place < last });
  useCommand({ id: "time.newer", title: "One commit forward in time", group: "Time travel", keys: "alt+]", run: () => go(place - 1), enabled: place > 0 });
  useCommand({ id: "time.branch", title: "Branch from here", group: "Time travel", run: () => setForking(true), enabled: at !== undefined });

  if (error) return <ErrorState compact error={error} onRetry={() => void refetch()} />;
  return (
    <section aria-label="Time travel" className="flex flex-col border-b border-line bg-surface-1">
      {data === undefined && <ProgressLine label="Loading the commits of the branch" />}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5">
        <input
          type="range"
          aria-label={`Commit of ${branch}`}
          aria-valuetext={shown === undefined ? "" : `${shown.subject}, ${relativeTime(shown.time)}`}
          min={0}
          max={Math.max(0, last)}
          value={Math.max(0, last) - place}
          disabled={last <= 0}
          onChange={(event) => go(last - Number(event.target.value))}
          className="h-6 min-w-32 flex-1 accent-(--accent-fill)"
        />
        <span className="w-36 shrink-0 text-right text-xs text-muted">
          {place === 0 ? "now" : `${place} back`} · {commits.length}
          {hasNextPage ? "+" : ""} {commits.length === 1 ? "commit" : "commits"}
        </span>
        <Button small icon={GitBranchPlus} disabled={shown === undefined} onClick={() => setForking(true)}>
          Branch from here
        </Button>
        <Button small icon={X} disabled={place === 0} onClick={() => go(0, true)}>
          Back to now
        </Button>
      </div>
      {shown !== undefined && (
        <p aria-live="polite" className="flex gap-2 px-3 pb-1.5 text-xs text-muted">
          <code>{shortId(shown.id)}</code>
          {isByAgent(shown.author.name) && <span className="text-accent">✦</span>}
          <span className="min-w-0 flex-1 truncate text-text">{shown.subject || "No message"}</span>
          <span className="shrink-0">{exactTime(shown.time)}</span>
        </p>
      )}
      {forking && shown !== undefined && <BranchFrom repo={repo} start={shown.id} onClose={() => setForking(false)} />}
    </section>
  );
}
