/** Small values as text: times, commits, paths, costs. */
import { useEffect, useState } from "react";

import { cost, exactTime, milliseconds, relativeTime, shortId, shortPath, type Time } from "@/lib/format";

import { toast } from "./toasts";
import { Tooltip } from "./Tooltip";

/** "3 min. ago", with the exact time on hover; keeps itself current. */
export function RelativeTime({ time }: { time: Time }) {
  const [, tick] = useState(0);
  useEffect(() => {
    const young = Date.now() - milliseconds(time) < 3_600_000;
    const timer = setInterval(() => tick((n) => n + 1), young ? 20_000 : 600_000);
    return () => clearInterval(timer);
  }, [time]);
  return (
    <Tooltip text={exactTime(time)}>
      <time dateTime={new Date(milliseconds(time)).toISOString()} className="whitespace-nowrap">
        {relativeTime(time)}
      </time>
    </Tooltip>
  );
}

export async function copyText(text: string, told: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast({ text: told });
  } catch {
    toast({ text: `The browser does not let pages copy. It is ${text}.`, meaning: "attention" });
  }
}

/** Seven characters; a click copies all of it. */
export function CommitId({ commit }: { commit: string }) {
  const short = shortId(commit);
  return (
    <Tooltip text={`Copy ${commit}`}>
      <button
        type="button"
        aria-label={`Copy commit id ${short}`}
        onClick={() => void copyText(commit, `Copied ${short}`)}
        className="rounded-sm px-0.5 font-mono text-xs text-muted hover:bg-surface-2 hover:text-text"
      >
        {short}
      </button>
    </Tooltip>
  );
}

/** Shortened in the middle to about `most` characters; all of it on hover. */
export function Path({ path, most = 48 }: { path: string; most?: number }) {
  return (
    <span title={path} className="break-all">
      {shortPath(path, most)}
    </span>
  );
}

export function Cost({ dollars }: { dollars: number | null | undefined }) {
  if (dollars === null || dollars === undefined) return <span title="The price of this model is not known">–</span>;
  return <span title={`$${dollars.toFixed(6)}`}>{cost(dollars)}</span>;
}
