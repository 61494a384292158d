import { useNavigate } from "@tanstack/react-router";
import { ArrowUpFromLine, Copy, CopyPlus, GitFork, GitMerge, Pencil, Plus, Trash2 } from "lucide-react";

import type { Branch } from "@/api";
import { branchPlace } from "@/lib/places";
import { copyText, type MenuEntry } from "@/ui";

import { useShell } from "./shell_state";

/** What can be done with a branch, wherever it is shown. */
export function useBranchMenu(repo: string, branch: Pick<Branch, "name" | "protected" | "is_default" | "busy" | "ai">, main: string | null): MenuEntry[] {
  const { setDialog } = useShell();
  const navigate = useNavigate();
  const { name } = branch;
  const busy = branch.busy !== null;
  return [
    { label: "Open", onSelect: () => void navigate(branchPlace({ repo, branch: name })) },
    null,
    { label: "New branch from here", icon: Plus, onSelect: () => setDialog({ kind: "new", repo, start: name }) },
    {
      label: "Fork with its conversation",
      icon: GitFork,
      disabled: !branch.ai,
      onSelect: () => setDialog({ kind: "new", repo, start: name, conversation: true }),
    },
    ...(main !== null && main !== name
      ? [{ label: `Merge into ${main}`, icon: GitMerge, onSelect: () => setDialog({ kind: "merge", repo, source: name, target: main }) }]
      : []),
    { label: "Push", icon: ArrowUpFromLine, onSelect: () => setDialog({ kind: "push", repo, branch: name }) },
    { label: "Export a copy", icon: CopyPlus, onSelect: () => setDialog({ kind: "export", repo, branch: name }) },
    null,
    { label: "Copy name", icon: Copy, onSelect: () => void copyText(name, `Copied ${name}`) },
    { label: "Rename", icon: Pencil, disabled: busy || branch.is_default, onSelect: () => setDialog({ kind: "rename", repo, branch: name }) },
    { label: "Delete", icon: Trash2, danger: true, disabled: busy || branch.is_default || branch.protected, onSelect: () => setDialog({ kind: "delete", repo, branch: name }) },
  ];
}
