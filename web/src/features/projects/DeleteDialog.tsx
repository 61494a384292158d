import { useState } from "react";

import { useDeleteProject, type Project } from "@/api";
import { Button, Dialog, Input, toast } from "@/ui";

import { told } from "./problems";

export interface DeleteDialogProps {
  project: Project;
  onClose: () => void;
  onDeleted: () => void;
}

/** The name of the directory is typed, so that no one deletes the wrong one. */
export function DeleteDialog({ project, onClose, onDeleted }: DeleteDialogProps) {
  const [typed, setTyped] = useState("");
  const remove = useDeleteProject(project.id);
  const directory = project.directory.split("/").at(-1) ?? project.id;
  const confirm = () => {
    if (typed !== directory) return;
    remove.mutate(typed, {
      onSuccess: () => {
        toast({ text: `${project.name} is in the folder “deleted” of the workspace`, meaning: "good" });
        onDeleted();
      },
    });
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Delete ${project.name}`}
      about="It is moved to the folder “deleted” of the workspace, with its history. Work under way stops."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" disabled={typed !== directory} busy={remove.isPending} onClick={confirm}>
            Delete the project
          </Button>
        </>
      }
    >
      <Input
        label={
          <>
            Type <span className="font-mono select-all">{directory}</span> to confirm
          </>
        }
        autoFocus
        value={typed}
        problem={remove.isError ? told(remove.error) : undefined}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => event.key === "Enter" && confirm()}
      />
    </Dialog>
  );
}
