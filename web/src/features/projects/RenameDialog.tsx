import { useState } from "react";

import { useChangeProject, type Project } from "@/api";
import { Button, Dialog, Input } from "@/ui";

import { told } from "./problems";

export function RenameDialog({ project, onClose }: { project: Project; onClose: () => void }) {
  const [name, setName] = useState(project.name);
  const change = useChangeProject(project.id);
  const off = name.trim() === "" || name.trim() === project.name;
  const save = () => !off && change.mutate({ name: name.trim() }, { onSuccess: onClose });
  return (
    <Dialog
      open
      onClose={onClose}
      title="Rename the project"
      about="The name that is shown changes. Its directory keeps its name, so links to it stay right."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabled={off} busy={change.isPending} onClick={save}>
            Rename
          </Button>
        </>
      }
    >
      <Input
        label="Name"
        maxLength={200}
        value={name}
        autoFocus
        problem={change.isError ? told(change.error) : undefined}
        onChange={(event) => setName(event.target.value)}
        onKeyDown={(event) => event.key === "Enter" && save()}
      />
    </Dialog>
  );
}
