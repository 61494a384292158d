import { useNavigate } from "@tanstack/react-router";
import { Archive, ArchiveRestore, Ellipsis, Pencil, Trash2, Users } from "lucide-react";
import { useState } from "react";

import { useChangeProject, type Project } from "@/api";
import { useCommand } from "@/lib/commands";
import { Badge, IconButton, Menu, RelativeTime, toast } from "@/ui";

import { BuiltBranch } from "./BuiltBranch";
import { DeleteDialog } from "./DeleteDialog";
import { told } from "./problems";
import { RenameDialog } from "./RenameDialog";
import { ShareDialog } from "./ShareDialog";

/** Name, kind, who answers; and what is done to the project as a whole. */
export function ProjectHeader({ project }: { project: Project }) {
  const [dialog, setDialog] = useState<"rename" | "share" | "delete" | null>(null);
  const change = useChangeProject(project.id);
  const navigate = useNavigate();
  const archive = () =>
    change.mutate(
      { archived: !project.archived },
      {
        onSuccess: ({ archived }) =>
          toast({
            text: archived ? "Archived: left out of lists" : "Back in the lists",
            action: { label: "Undo", run: () => change.mutate({ archived: !archived }) },
          }),
        onError: (error) => toast({ text: told(error), meaning: "bad" }),
      },
    );
  const archiving = project.archived ? "Bring back from the archive" : "Archive the project";
  useCommand({ id: "project.rename", title: "Rename the project", group: "Project", run: () => setDialog("rename") });
  useCommand({ id: "project.share", title: "Share the project", group: "Project", run: () => setDialog("share") });
  useCommand({ id: "project.archive", title: archiving, group: "Project", run: archive });
  useCommand({ id: "project.delete", title: "Delete the project", group: "Project", run: () => setDialog("delete") });
  const close = () => setDialog(null);
  return (
    <header className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
      <h1 title={project.name} className="max-w-full min-w-0 truncate text-xl font-semibold">
        {project.name}
      </h1>
      <div className="flex min-w-0 grow basis-60 flex-wrap items-center gap-x-3 text-xs text-muted">
        <span className="font-mono whitespace-nowrap">{project.id}</span>
        {project.deliverable_type !== null && <span>{project.deliverable_type}</span>}
        <span className="truncate" title="Who answers">
          {project.agent === "" ? "default agent" : project.agent}
        </span>
        <RelativeTime time={project.updated_at} />
        {project.archived && <Badge meaning="attention">archived</Badge>}
      </div>
      <BuiltBranch project={project} small />
      <Menu
        align="end"
        entries={[
          { label: "Rename…", icon: Pencil, onSelect: () => setDialog("rename") },
          { label: "Share…", icon: Users, onSelect: () => setDialog("share") },
          { label: archiving, icon: project.archived ? ArchiveRestore : Archive, onSelect: archive },
          null,
          { label: "Delete…", icon: Trash2, danger: true, onSelect: () => setDialog("delete") },
        ]}
      >
        <IconButton icon={Ellipsis} label="More about this project" />
      </Menu>
      {dialog === "rename" && <RenameDialog project={project} onClose={close} />}
      {dialog === "share" && <ShareDialog project={project} onClose={close} />}
      {dialog === "delete" && <DeleteDialog project={project} onClose={close} onDeleted={() => void navigate({ to: "/projects" })} />}
    </header>
  );
}
