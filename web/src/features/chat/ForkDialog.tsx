import { useState } from "react";

import { useForkSession } from "@/api";
import { Button, Dialog, Input } from "@/ui";

import type { ShownTurn } from "./parts";

export interface ForkDialogProps {
  repo: string;
  branch: string;
  turn: ShownTurn;
  /** A name that is free. */
  name: string;
  onClose: () => void;
  onForked: (branch: string) => void;
}

/** A branch as this one was right after a turn. */
export function ForkDialog({ repo, branch, turn, name: first, onClose, onForked }: ForkDialogProps) {
  const [name, setName] = useState(first);
  const fork = useForkSession(repo, branch);
  const go = () =>
    fork.mutate({ turn: turn.id ?? "", name: name.trim() }, { onSuccess: (made) => onForked(made.name) });
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Fork from turn ${turn.number ?? ""}`}
      about={`A new branch with the files and the conversation of ${branch} as they were right after this turn.`}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={fork.isPending} disabled={name.trim() === ""} onClick={go}>
            Fork and open
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          go();
        }}
      >
        <Input autoFocus label="Name of the branch" value={name} problem={fork.error?.message} onChange={(event) => setName(event.target.value)} />
      </form>
    </Dialog>
  );
}
