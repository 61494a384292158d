import { Link } from "@tanstack/react-router";
import { CircleHelp, GitBranch, History } from "lucide-react";
import { useEffect, useState } from "react";

import { stream, topicOf, useBranches, useConnection, useQuestions, useTopic } from "@/api";
import { cost, count, duration, plural, shortId } from "@/lib/format";
import { branchPlace, projectPlace } from "@/lib/places";
import { useLatestSaved } from "@/lib/saved";
import { Badge } from "@/ui";

import { useHere } from "./here";

/** The time, once a second, while somebody needs it. */
function useSeconds(running: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!running) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [running]);
  return now;
}

export function StatusBar() {
  const { repo, branch, at } = useHere();
  return (
    <footer aria-label="Status" className="flex h-6.5 shrink-0 items-center gap-4 overflow-hidden border-t border-line bg-surface-1 px-3 text-xs whitespace-nowrap text-muted">
      {branch !== undefined && (
        <span className="flex min-w-0 items-center gap-1 text-text">
          <GitBranch aria-hidden size={13} className="shrink-0" />
          <span className="truncate">{branch}</span>
        </span>
      )}
      {at !== undefined && repo !== undefined && branch !== undefined && (
        <Link {...branchPlace({ repo, branch })} className="flex items-center gap-1 text-attention hover:underline">
          <History aria-hidden size={13} />
          {`As of ${shortId(at)}: back to now`}
        </Link>
      )}
      <Saved />
      {repo !== undefined && branch !== undefined && <RunningTurn key={`${repo} ${branch}`} repo={repo} branch={branch} />}
      <span className="flex-1" />
      <OpenQuestions />
      <ConnectionState />
    </footer>
  );
}

function Saved() {
  const saved = useLatestSaved();
  const { repo, branch } = useHere();
  const here = saved !== null && saved.repo === repo && saved.branch === branch;
  return (
    <span role="status" className={here ? undefined : "sr-only"}>
      {here && (
        <span key={saved.commit} className="animate-flash rounded-sm px-1">
          Saved → <span className="font-mono">{shortId(saved.commit)}</span>
        </span>
      )}
    </span>
  );
}

/** The chat is shown first; then its card is to be answered without another click. */
function goToQuestion(): void {
  setTimeout(() => {
    const card = document.querySelector("[data-question]");
    card?.scrollIntoView({ block: "nearest" });
    card?.querySelector<HTMLElement>("button, textarea")?.focus();
  }, 100);
}

const NOTHING = { input: 0, output: 0, cached: 0, cost: 0 };

function RunningTurn({ repo, branch }: { repo: string; branch: string }) {
  const branches = useBranches(repo);
  const busy = branches.data?.find((each) => each.name === branch)?.busy ?? null;
  const waits = useQuestions().data?.some((each) => each.repository === repo && each.branch === branch) === true;
  const others = (branches.data ?? []).filter((each) => each.busy !== null && each.name !== branch).length;
  const [spent, setSpent] = useState(NOTHING);
  const now = useSeconds(busy !== null);
  useTopic(topicOf.branch(repo, branch), ({ event }) => {
    if (event.type === "TurnStarted") setSpent(NOTHING);
    if (event.type !== "ModelAnswered") return;
    setSpent((before) => ({
      input: before.input + event.input_tokens,
      output: before.output + event.output_tokens,
      cached: before.cached + event.cache_read_tokens,
      cost: before.cost + (event.cost ?? 0),
    }));
  });
  const tokens = spent.input + spent.output;
  const share = spent.input === 0 ? 0 : Math.round((100 * spent.cached) / spent.input);
  const time = busy === null ? "" : duration(now / 1000 - busy.since);
  const words = [
    busy !== null && (waits ? `waits for your answer ${time}` : `turn running ${time}`),
    busy !== null && tokens > 0 && `${count(tokens)} tok${share > 0 ? ` (${share} % cached)` : ""}`,
    busy !== null && spent.cost > 0 && cost(spent.cost),
  ].filter((word) => word !== false);
  return (
    <>
      {words.length > 0 && !waits && <Badge meaning="running">{words.join(" · ")}</Badge>}
      {words.length > 0 && waits && (
        <Link {...branchPlace({ repo, branch, tab: "chat" })} onClick={goToQuestion} className="rounded-sm hover:underline">
          <Badge meaning="attention">{words.join(" · ")}</Badge>
        </Link>
      )}
      {others > 0 && <Badge meaning="running">{`${plural(others, "turn")} on other branches`}</Badge>}
    </>
  );
}

/** Leads to the one that waits longest. */
function OpenQuestions() {
  const { data } = useQuestions();
  const first = data?.[0];
  if (data === undefined || first === undefined) return null;
  const words = `${plural(data.length, "question")} for you`;
  const inside = (
    <span className="flex items-center gap-1 text-attention">
      <CircleHelp aria-hidden size={13} />
      {words}
    </span>
  );
  if (first.project !== null) return <Link {...projectPlace(first.project)}>{inside}</Link>;
  if (first.repository !== null && first.branch !== null) {
    return <Link {...branchPlace({ repo: first.repository, branch: first.branch, tab: "chat" })}>{inside}</Link>;
  }
  return inside;
}

function ConnectionState() {
  const connection = useConnection();
  const waiting = connection.state === "reconnecting";
  const now = useSeconds(waiting);
  if (connection.state === "connected") return <Badge meaning="good">connected</Badge>;
  if (connection.state === "refused") return <Badge meaning="bad">signed out</Badge>;
  if (!waiting) return <Badge meaning="running">connecting</Badge>;
  const seconds = Math.max(0, Math.ceil((connection.at - now) / 1000));
  return (
    <span className="flex items-center gap-2">
      <Badge meaning="attention">{seconds > 0 ? `reconnecting … (${seconds} s)` : "reconnecting …"}</Badge>
      <button type="button" onClick={() => stream.connectNow()} className="rounded-sm font-medium text-accent hover:underline">
        Try now
      </button>
    </span>
  );
}
