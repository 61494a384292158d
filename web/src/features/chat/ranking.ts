/** Fuzzy matches in a hundred thousand paths without holding up what is being typed. */
import { useEffect, useState } from "react";

import { ranked } from "@/lib/fuzzy";

const SLICE = 4000;
const NONE: string[] = [];

/** The best few, a moment later. */
export function useRankedPaths(query: string, paths: readonly string[] | undefined, limit = 8): string[] {
  const [found, setFound] = useState<string[]>(NONE);
  useEffect(() => {
    if (paths === undefined) return;
    let timer: ReturnType<typeof setTimeout>;
    let best: { item: string; match: { score: number } }[] = [];
    const look = (from: number) => {
      const more = ranked(query, paths.slice(from, from + SLICE), (path) => path, limit);
      best = [...best, ...more].sort((a, b) => b.match.score - a.match.score).slice(0, limit);
      const isLast = from + SLICE >= paths.length || (query === "" && best.length >= limit);
      if (isLast) setFound(best.map((each) => each.item));
      else timer = setTimeout(look, 0, from + SLICE);
    };
    timer = setTimeout(look, 0, 0);
    return () => clearTimeout(timer);
  }, [query, paths, limit]);
  return paths === undefined ? NONE : found;
}
