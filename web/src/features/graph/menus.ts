/** What can be done with a commit or a branch, for context menus. */
import { Copy, FolderOpen, GitBranchPlus, GitCommitHorizontal, GitMerge, GitPullRequestArrow, Trash2 } from "lucide-react";

import type { MenuEntry } from "@/ui";

import type { Asking } from "./useAsking";

export interface MenuParts {
  ask: Asking["ask"];
  openBranch: (branch: string) => void;
  openCommit: (commit: string) => void;
  openFiles: (commit: string) => void;
  copy: (commit: string) => void;
}

export function branchEntries(branch: string, isDefault: boolean, { ask, openBranch }: MenuParts): MenuEntry[] {
  const source = { rev: branch, isBranch: true };
  return [
    { heading: branch },
    { label: `Open ${branch}`, icon: FolderOpen, onSelect: () => openBranch(branch) },
    { label: `Merge ${branch} into…`, icon: GitMerge, onSelect: () => ask({ what: "pick", verb: "merge", source }) },
    { label: `Rebase ${branch} onto…`, icon: GitPullRequestArrow, onSelect: () => ask({ what: "pick", verb: "rebase", source }) },
    { label: `Branch from ${branch}`, icon: GitBranchPlus, onSelect: () => ask({ what: "branch", start: branch }) },
    ...(isDefault ? [] : [{ label: `Delete ${branch}`, icon: Trash2, danger: true, onSelect: () => ask({ what: "delete", branch }) }]),
  ];
}

/** `through`: the branch whose chain the commit is on, where it is no tip. */
export function commitEntries(commit: string, parts: MenuParts, through?: string): MenuEntry[] {
  const source = { rev: commit, isBranch: false };
  const { ask } = parts;
  return [
    { label: "Open commit", icon: GitCommitHorizontal, onSelect: () => parts.openCommit(commit) },
    { label: "Open files here", icon: FolderOpen, onSelect: () => parts.openFiles(commit) },
    { label: "Branch from here", icon: GitBranchPlus, keys: "b", onSelect: () => ask({ what: "branch", start: commit }) },
    { label: "Cherry-pick onto…", icon: Copy, keys: "c", onSelect: () => ask({ what: "pick", verb: "cherry-pick", source }) },
    { label: "Merge up to it into…", icon: GitMerge, keys: "m", onSelect: () => ask({ what: "pick", verb: "merge", source }) },
    ...(through === undefined
      ? []
      : [
          {
            label: `Rebase ${through} from here onto…`,
            icon: GitPullRequestArrow,
            keys: "r",
            onSelect: () => ask({ what: "pick", verb: "rebase", source: { rev: through, isBranch: true, from: commit } }),
          } satisfies MenuEntry,
        ]),
    { label: "Copy commit id", icon: Copy, onSelect: () => parts.copy(commit) },
  ];
}
