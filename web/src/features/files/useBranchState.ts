/** Whether files of a branch may be changed now, and if not, why. */
import { useBranch } from "@/api";

export interface BranchState {
  /** Who works on it now. */
  busy: { who: string; since: number } | null;
  commit: string | undefined;
  /** Why nothing may be changed; undefined where it may. */
  refusal: string | undefined;
}

export function useBranchState(repo: string, branch: string, at: string | undefined): BranchState {
  const { data } = useBranch(repo, branch);
  const busy = data?.busy ?? null;
  const refusal =
    at !== undefined
      ? "This is how the branch was at an earlier commit. It cannot be changed."
      : busy !== null
        ? `${busy.who} works on this branch. Files can be changed again when the turn ends.`
        : undefined;
  return { busy, commit: data?.commit, refusal };
}
