import { useNavigate } from "@tanstack/react-router";
import { useState, type SyntheticEvent } from "react";

import { useAddRepository, useOfferedRepositories } from "@/api";
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
  const offered = useOfferedRepositories();
  const [path, setPath] = useState("");
  const choose = (chosen: string) =>
    add.mutate(chosen, {
      onSuccess: (repository) => {
        onDone?.();
        void navigate(repositoryPlace(repository.id));
      },
    });
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    choose(path.trim());
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
      {offered.data !== undefined && offered.data.length > 0 && (
        <div>
          <h3 className="text-xs font-semibold text-muted">Used on the command line</h3>
          <ul className="mt-1 flex flex-wrap gap-1.5">
            {offered.data.map((each) => (
              <li key={each.path}>
                <Button small title={each.path} disabled={add.isPending} onClick={() => choose(each.path)}>
                  Add {each.name}
                </Button>
              </li>
            ))}
          </ul>
        </div>
      )}
      {add.error !== null && <ErrorState compact error={add.error} />}
    </form>
  );
}
