import { useEffect, useState } from "react";

import { cost, counted, duration } from "@/lib/format";
import { Badge, Kbd } from "@/ui";

import { waitsForPerson, type ShownTurn } from "./parts";

/** Seconds since 1970, each second anew. */
export function useNow(ticking: boolean): number {
  const [now, setNow] = useState(() => Date.now() / 1000);
  useEffect(() => {
    if (!ticking) return;
    const timer = setInterval(() => setNow(Date.now() / 1000), 1000);
    return () => clearInterval(timer);
  }, [ticking]);
  return now;
}

function Hints() {
  return (
    <span className="flex items-center gap-x-3 max-sm:hidden">
      <span className="flex items-center gap-1"><Kbd keys="enter" /> sends</span>
      <span className="flex items-center gap-1"><Kbd keys="shift+enter" /> new line</span>
      <span className="flex items-center gap-1"><Kbd keys="@" /> files</span>
      <span className="flex items-center gap-1"><Kbd keys="/" /> commands</span>
      <span className="hidden items-center gap-1 lg:flex"><Kbd keys="arrowup" /> edits the last message</span>
    </span>
  );
}

function runningWords(turn: ShownTurn, connected: boolean): string {
  if (!connected) return "Running; waiting for the server";
  if (turn.state === "queued") return "Queued";
  return waitsForPerson(turn) ? "Waits for your answer" : "Running";
}

/** One line of fixed height below the composer: the turn under way, or the keys. */
export function StatusLine({ turn, connected }: { turn: ShownTurn | null; connected: boolean }) {
  const running = turn !== null && (turn.state === "running" || turn.state === "queued");
  const now = useNow(running);
  const tokens = turn === null ? 0 : turn.spent.input + turn.spent.output;
  return (
    <div className="flex h-7 items-center gap-2 overflow-hidden px-1 pt-1 text-xs whitespace-nowrap text-muted">
      {running ? (
        <>
          <Badge meaning={waitsForPerson(turn) ? "attention" : "running"}>
            {runningWords(turn, connected)} {duration(now - turn.started)}
          </Badge>
          {tokens > 0 && (
            <span>
              {counted(tokens, "token")}
              {turn.spent.cached > 0 && ` (${Math.round((100 * turn.spent.cached) / Math.max(1, turn.spent.input))} % cached)`}
            </span>
          )}
          {turn.spent.cost !== null && <span>{cost(turn.spent.cost)}</span>}
          <span className="ml-auto flex items-center gap-1">
            <Kbd keys="escape" /> stops
          </span>
        </>
      ) : (
        <Hints />
      )}
    </div>
  );
}
