/** New, rename, delete, merge: one dialog at a time, wherever it was asked for. */
import { useNavigate } from "@tanstack/react-router";
import { useState, type SyntheticEvent } from "react";

import { useBranches, useChangeBranch, useCreateBranch, useDeleteBranch, useUndo } from "@/api";
import { branchPlace, repositoryPlace } from "@/lib/places";
import { Button, Confirm, Dialog, ErrorState, Input, toast } from "@/ui";

import { MergeDialog } from "./features";
import { useHere } from "./here";
import { useOpenBranches } from "./open_branches";
import { useShell, type BranchDialog } from "./shell_state";

type Of<K extends BranchDialog["kind"]> = Extract<BranchDialog, { kind: K }> & { onClose: () => void };

export function BranchDialogs() {
  const { dialog, setDialog } = useShell();
  const onClose = () => setDialog(null);
  if (dialog === null) return null;
  switch (dialog.kind) {
    case "new":
      return <NewBranch {...dialog} onClose={onClose} />;
    case "rename":
      return <RenameBranch {...dialog} onClose={onClose} />;
    case "delete":
      return <DeleteBranch {...dialog} onClose={onClose} />;
    case "merge":
      return <MergeDialog open repo={dialog.repo} kind="merge" target={dialog.target} sources={[dialog.source]} onClose={onClose} />;
  }
}

interface NameFormProps {
  title: string;
  about: string;
  action: string;
  initial: string;
  pending: boolean;
  error: Error | null;
  onSubmit: (name: string) => void;
  onClose: () => void;
}

function NameForm({ title, about, action, initial, pending, error, onSubmit, onClose }: NameFormProps) {
  const [name, setName] = useState(initial);
  const wrong = nameProblem(name);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (name !== "" && wrong === undefined) onSubmit(name);
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      about={about}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form="branch-name" busy={pending} disabled={name === "" || wrong !== undefined || name === initial && action === "Rename"}>
            {action}
          </Button>
        </>
      }
    >
      <form id="branch-name" onSubmit={submit}>
        <Input label="Name" autoFocus value={name} problem={wrong} hint="Agents work on branches that begin with ai/." onChange={(event) => setName(event.target.value)} />
      </form>
      {error !== null && <ErrorState compact error={error} />}
    </Dialog>
  );
}

/** What git would refuse, told while typing. The server has the last word. */
export function nameProblem(name: string): string | undefined {
  if (/\s/.test(name)) return "A name has no spaces; use - instead.";
  if (/[~^:?*[\\]|\.\.|@\{|\/\/|^[-/.]|[/.]$|\.lock$/.test(name)) return "Git does not allow such a name.";
  return undefined;
}

/** The first free one of ai/first, ai/first-2, … */
export function freeName(wanted: string, taken: readonly string[]): string {
  for (let i = 1; ; i++) {
    const name = i === 1 ? wanted : `${wanted}-${i}`;
    if (!taken.includes(name)) return name;
  }
}

function NewBranch({ repo, start, conversation = false, onClose }: Of<"new">) {
  const create = useCreateBranch(repo);
  const taken = (useBranches(repo).data ?? []).map((each) => each.name);
  const navigate = useNavigate();
  const submit = (name: string) =>
    create.mutate(
      { name, start: start ?? "HEAD", conversation },
      {
        onSuccess: (made) => {
          onClose();
          void navigate(branchPlace({ repo, branch: made.name }));
        },
      },
    );
  return (
    <NameForm
      title={conversation ? "Fork with its conversation" : "New branch"}
      about={`It begins at ${start ?? "the default branch"}.`}
      action={conversation ? "Fork" : "Create branch"}
      initial={freeName(conversation && start !== undefined ? `${start}-fork` : "ai/new-idea", taken)}
      pending={create.isPending}
      error={create.error}
      onSubmit={submit}
      onClose={onClose}
    />
  );
}

function RenameBranch({ repo, branch, onClose }: Of<"rename">) {
  const change = useChangeBranch(repo);
  const here = useHere();
  const navigate = useNavigate();
  const [, setOpen] = useOpenBranches(repo);
  const submit = (name: string) =>
    change.mutate(
      { branch, name },
      {
        onSuccess: () => {
          setOpen((open) => open.map((each) => (each === branch ? name : each)));
          onClose();
          if (here.branch === branch) void navigate({ ...branchPlace({ repo, branch: name }), replace: true });
        },
      },
    );
  return (
    <NameForm
      title={`Rename ${branch}`}
      about="Its conversation and history stay with it."
      action="Rename"
      initial={branch}
      pending={change.isPending}
      error={change.error}
      onSubmit={submit}
      onClose={onClose}
    />
  );
}

function DeleteBranch({ repo, branch, onClose }: Of<"delete">) {
  const remove = useDeleteBranch(repo);
  const undo = useUndo(repo);
  const here = useHere();
  const navigate = useNavigate();
  const [, setOpen] = useOpenBranches(repo);
  const confirm = async () => {
    // Away from it first, so that nothing asks for what is gone.
    if (here.branch === branch) await navigate(repositoryPlace(repo));
    const { operation } = await remove.mutateAsync(branch);
    setOpen((open) => open.filter((each) => each !== branch));
    toast({ text: `Deleted ${branch}`, action: { label: "Undo", run: () => undo.mutate(operation) } });
  };
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Delete ${branch}?`}
      about="Its commits are kept, and it can be brought back with Undo."
      action={`Delete ${branch}`}
      onConfirm={confirm}
    />
  );
}
