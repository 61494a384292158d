import { useEffect, useRef, useState } from "react";

import { recentFiles } from "@/lib/recent_files";

import type { FoundPath } from "./path_index";
import type { Ask, Told } from "./path_worker";

const SHOWN = 100;

export interface PathSearch {
  found: FoundPath[];
  /** What they were found for; the newest letters may not have been answered yet. */
  foundFor: string | undefined;
  /** Whether they were found among all paths. */
  foundInAll: boolean;
  /** How many paths there are, as far as they have been read. */
  size: number;
  reading: boolean;
  problem: string | undefined;
}

/** Paths of a branch that match, by a worker that lives as long as the component. */
export function usePathSearch(repo: string, branch: string, query: string): PathSearch {
  const worker = useRef<Worker | null>(null);
  const asked = useRef(0);
  const [state, setState] = useState<PathSearch>({ found: [], foundFor: undefined, foundInAll: false, size: 0, reading: true, problem: undefined });
  const { size, reading } = state;

  useEffect(() => {
    const made = new Worker(new URL("./path_worker.ts", import.meta.url), { type: "module" });
    worker.current = made;
    made.onmessage = ({ data }: MessageEvent<Told>) => {
      if (data.kind === "read") setState((before) => ({ ...before, size: data.size, reading: !data.done }));
      else if (data.kind === "failed") setState((before) => ({ ...before, reading: false, problem: data.message }));
      else if (data.id === asked.current) setState((before) => ({ ...before, found: data.found, foundFor: data.query, foundInAll: data.whole }));
    };
    const address = `/api/repositories/${repo}/files?${new URLSearchParams({ branch }).toString()}`;
    made.postMessage({ kind: "read", address } satisfies Ask);
    return () => made.terminate();
  }, [repo, branch]);

  useEffect(() => {
    asked.current += 1;
    worker.current?.postMessage({ kind: "find", id: asked.current, query, recent: recentFiles(repo), limit: SHOWN } satisfies Ask);
    // More paths have come, or all of them: the same question has another answer.
  }, [repo, branch, query, size, reading]);

  return state;
}
