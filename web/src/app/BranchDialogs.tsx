/** New, rename, delete, merge, export, push: one dialog at a time, wherever it was asked for. */
import { useNavigate } from "@tanstack/react-router";
import { useState, type ReactNode, type SyntheticEvent } from "react";

import { useBranches, useChangeBranch, useCreateBranch, useDeleteBranch, useExport, useExportPreview, useUndo } from "@/api";
import { branchPlace, repositoryPlace } from "@/lib/places";
import { plural } from "@/lib/format";
import { Button, Confirm, ConversationChoice, Dialog, ErrorState, Input, Skeleton, toast, type Along } from "@/ui";

import { freeName, nameProblem } from "./branch_names";
import { MergeDialog } from "./features";
import { useHere } from "./here";
import { useOpenBranches } from "./open_branches";
import { PushBranch } from "./PushBranch";
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
    case "export":
      return <ExportBranch {...dialog} onClose={onClose} />;
    case "push":
      return <PushBranch {...dialog} onClose={onClose} />;
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
  /** Below the name. */
  children?: ReactNode;
}

function NameForm({ title, about, action, initial, pending, error, onSubmit, onClose, children }: NameFormProps) {
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
      {children}
      {error !== null && <ErrorState compact error={error} />}
    </Dialog>
  );
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

/** A copy that can be given away, with its conversation or without it. */
function ExportBranch({ repo, branch, onClose }: Of<"export">) {
  const { data: branches } = useBranches(repo);
  if (branches === undefined) return null;
  return <ExportForm repo={repo} branch={branch} free={freeName(`${branch}-export`, branches.map((each) => each.name))} onClose={onClose} />;
}

function ExportForm({ repo, branch, free, onClose }: { repo: string; branch: string; free: string; onClose: () => void }) {
  const [along, setAlong] = useState<Along>();
  // As it was free at first: when the copy is made, its own name is taken.
  const [initial] = useState(free);
  const preview = useExportPreview(repo, { source: branch, name: initial, conversation: along ?? null });
  const make = useExport(repo);
  const navigate = useNavigate();
  const submit = (name: string) => {
    if (preview.data === undefined) return;
    make.mutate(
      { source: branch, name, conversation: preview.data.conversation_choice, seen_source: preview.data.source_tip },
      {
        onSuccess: (made) => {
          onClose();
          toast({ text: `Made ${made.branch}`, meaning: "good", action: { label: "Open", run: () => void navigate(branchPlace({ repo, branch: made.branch })) } });
        },
      },
    );
  };
  return (
    <NameForm
      title={`Export a copy of ${branch}`}
      about="The copy is a branch with the same work. This branch stays as it is."
      action="Export"
      initial={initial}
      pending={make.isPending}
      error={make.error ?? preview.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <div className="flex flex-col gap-2 pt-3">
        {(along !== undefined || preview.data?.conversation_choice != null) && (
          <ConversationChoice chosen={along ?? preview.data?.conversation_choice ?? undefined} onChoose={setAlong} come={preview.data?.conversation ?? null} />
        )}
        {preview.data !== undefined ? (
          <p className="text-xs text-muted">
            {preview.data.rewritten === 0
              ? "All commits stay as they are."
              : `${plural(preview.data.rewritten, "commit")} rewritten, ${preview.data.left_out} left out that held only conversation.`}
          </p>
        ) : (
          preview.error === null && <Skeleton lines={1} label="Working out what the copy would have" />
        )}
      </div>
    </NameForm>
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
