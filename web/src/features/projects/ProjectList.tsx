import { Link, useNavigate } from "@tanstack/react-router";
import { FolderKanban, Plus } from "lucide-react";
import { useMemo, useState } from "react";

import { topicOf, useBoard, useProjects, useTopic, type Project } from "@/api";
import { useCommand } from "@/lib/commands";
import { plural } from "@/lib/format";
import { ranked } from "@/lib/fuzzy";
import { useStored } from "@/lib/stored";
import { Badge, Button, Chip, EmptyState, ErrorState, Input, Skeleton, Unreadable } from "@/ui";

import { FirstWords } from "./FirstWords";
import { standing } from "./phases";
import { ProjectRows } from "./ProjectRows";

export function ProjectList() {
  const [archived, setArchived] = useStored("projects:archived", false);
  const [words, setWords] = useState("");
  const projects = useProjects(archived);
  const broken = useBoard().data?.broken ?? [];
  const navigate = useNavigate();
  useTopic(topicOf.board, () => undefined); // moves of projects make the list stale
  const shown = useMemo(() => found(projects.data ?? [], words), [projects.data, words]);
  const waiting = shown.filter((project) => standing(project).waits && !project.archived).length;
  useCommand({ id: "projects.archived", title: archived ? "Hide archived projects" : "Show archived projects", group: "Projects", run: () => setArchived(!archived) });
  const create = () => void navigate({ to: "/projects/new" });
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-3">
        <h1 className="text-xl font-semibold">Projects</h1>
        <div className="min-w-0 flex-1">
          {waiting > 0 && <Badge meaning="attention">{`${plural(waiting, "project")} ${waiting === 1 ? "waits" : "wait"} for you`}</Badge>}
        </div>
        <div className="w-56">
          <Input type="search" aria-label="Search projects" placeholder="Search" value={words} onChange={(event) => setWords(event.target.value)} />
        </div>
        <Chip pressed={archived} onClick={() => setArchived(!archived)}>
          Archived too
        </Chip>
        <Link to="/projects/new" className="inline-flex h-8 items-center gap-1.5 rounded-md bg-accent-fill px-3 font-medium text-on-accent hover:brightness-110">
          <Plus aria-hidden size={15} /> New project
        </Link>
      </header>
      <FirstWords />
      <Unreadable sentences={broken} />
      {projects.isError ? (
        <ErrorState error={projects.error} onRetry={() => void projects.refetch()} />
      ) : projects.data === undefined ? (
        <Skeleton lines={6} label="Loading the projects" />
      ) : projects.data.length === 0 ? (
        <EmptyState icon={FolderKanban} title="No project yet" action={<Button onClick={create}>Start a project</Button>}>
          Say what you want in your own words; Forge makes an intent, a specification and a deliverable of it.
        </EmptyState>
      ) : shown.length === 0 ? (
        <EmptyState title="None found" action={<Button onClick={() => setWords("")}>Show all</Button>}>{`No project matches “${words}”.`}</EmptyState>
      ) : (
        <ProjectRows projects={shown} />
      )}
    </div>
  );
}

/** The last changed first; with words, the best match first. */
function found(projects: readonly Project[], words: string): Project[] {
  const newest = [...projects].sort((a, b) => b.updated_at.localeCompare(a.updated_at));
  return ranked(words.trim(), newest, ({ name, id, phase }) => `${name} ${id} ${phase}`, newest.length).map(({ item }) => item);
}
