import { useNavigate } from "@tanstack/react-router";
import { useState, type SyntheticEvent } from "react";

import { useAddRepository } from "@/api";
import { repositoryPlace } from "@/lib/places";
import { Button, Dialog, ErrorState, Input } from "@/ui";

export function AddRepository({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Add a repository" about="Any git repository on this machine. Nothing in it is changed.">
      <AddRepositoryForm onDone={onClose} />
    </Dialog>
  );
}

export function AddRepositoryForm({ onDone }: { onDone?: () => void }) {
  const add = useAddRepository();
  const navigate = useNavigate();
  const [path, setPath] = useState("");
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    add.mutate(path.trim(), {
      onSuccess: (repository) => {
        onDone?.();
        void navigate(repositoryPlace(repository.id));
      },
    });
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      <div className="flex items-end gap-2">
        <div className="flex-1">
          <Input label="Path of a repository on this machine" placeholder="/home/ada/garden" value={path} onChange={(event) => setPath(event.target.value)} />
        </div>
        <Button kind="primary" type="submit" busy={add.isPending} disabled={path.trim() === ""}>
          Add repository
        </Button>
      </div>
      {add.error !== null && <ErrorState compact error={add.error} />}
    </form>
  );
}
