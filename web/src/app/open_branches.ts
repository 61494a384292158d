/** The branches that a person has open as tabs, in order, for each repository. */
import { useCallback, useEffect } from "react";

import { useStored } from "@/lib/stored";

const NONE: string[] = [];

export function useOpenBranches(repo: string): [string[], (change: (open: string[]) => string[]) => void] {
  return useStored(`tabs:${repo}`, NONE);
}

/** Whatever is looked at is open. */
export function useOpened(repo: string, branch: string | undefined): void {
  const [, change] = useOpenBranches(repo);
  useEffect(() => {
    if (branch !== undefined) change((open) => (open.includes(branch) ? open : [...open, branch]));
  }, [branch, change]);
}

/** Which tab comes into view when one is closed: the one after it, else the one before. */
export function afterClosing(open: readonly string[], closed: string): string | undefined {
  const at = open.indexOf(closed);
  return open[at + 1] ?? open[at - 1];
}

export function useCloseBranch(repo: string) {
  const [open, change] = useOpenBranches(repo);
  return useCallback(
    (branch: string) => {
      change((now) => now.filter((each) => each !== branch));
      return afterClosing(open, branch);
    },
    [open, change],
  );
}
