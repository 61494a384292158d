import { useNavigate } from "@tanstack/react-router";
import { useState, type SyntheticEvent } from "react";

import { useBranches, useCreateBranch } from "@/api";
import { branchPlace } from "@/lib/places";
import { Button, Dialog, Input, toast } from "@/ui";

import { revName } from "./offers";

export interface BranchFromProps {
  repo: string;
  /** The commit or branch that it begins at. */
  start: string;
  name?: string | undefined;
  onClose: () => void;
  /** Instead of opening it. */
  onMade?: (name: string) => void;
}

/** A new branch at a commit. Its files and its conversation are as they were there. */
export function BranchFrom({ repo, start, name: given = "", onClose, onMade }: BranchFromProps) {
  const [name, setName] = useState(given);
  const navigate = useNavigate();
  const { data: branches } = useBranches(repo);
  const create = useCreateBranch(repo);
  const taken = branches?.some((branch) => branch.name === name.trim());
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    create.mutate(
      { name: name.trim(), start, conversation: false },
      {
        onSuccess: (made) => {
          onClose();
          toast({ text: `Made ${made.name} at ${revName(made.commit)}`, meaning: "good" });
          if (onMade) onMade(made.name);
          else void navigate(branchPlace({ repo, branch: made.name }));
        },
      },
    );
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Branch from ${revName(start)}`}
      about="The new branch begins here: its files and its conversation are as they were at this commit."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form="branch-from" disabled={name.trim() === "" || taken} busy={create.isPending}>
            Make the branch
          </Button>
        </>
      }
    >
      <form id="branch-from" onSubmit={submit}>
        <Input
          autoFocus
          label="Name of the branch"
          value={name}
          onChange={(event) => setName(event.target.value)}
          placeholder="try/another-way"
          problem={taken ? "A branch has this name already." : create.error?.message}
        />
      </form>
    </Dialog>
  );
}
