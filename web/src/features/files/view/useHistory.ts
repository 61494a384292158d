import { useMemo } from "react";

import { useCommits, type Commit } from "@/api";

/** The commits that touched a file, newest first; a file that was renamed is followed. */
export function useHistory(repo: string, rev: string, path: string) {
  const found = useCommits(repo, { rev, path, follow: true }, 100);
  const commits = useMemo<Commit[]>(() => found.data?.pages.flatMap((page) => page.items) ?? [], [found.data]);
  return { ...found, commits };
}
