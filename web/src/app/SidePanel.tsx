import { Link } from "@tanstack/react-router";
import { ChevronRight, Plus } from "lucide-react";
import { useState, type ReactNode } from "react";

import { useProjects, useRepositories, type Project, type Repository } from "@/api";
import { classNames } from "@/lib/class_names";
import { projectPlace, repositoryPlace } from "@/lib/places";
import { useStored } from "@/lib/stored";
import { Badge, Button, EmptyState, ErrorState, IconButton, Skeleton } from "@/ui";

import { AddRepository } from "./AddRepository";
import { BranchList } from "./BranchList";
import { SearchPanel } from "./features";
import { useHere } from "./here";
import { phaseMark } from "./phases";
import { useShell } from "./shell_state";

const NONE: string[] = [];

export function SidePanel() {
  const { side } = useShell();
  const { repo, branch } = useHere();
  const repositories = useRepositories();
  const [early, setEarly] = useState(false);
  if (side === "search") {
    const searched = repo ?? repositories.data?.[0]?.id;
    const there = repositories.data?.find((each) => each.id === searched);
    return (
      <aside aria-label="Search" className="h-full overflow-auto bg-surface-1">
        {searched === undefined ? (
          <EmptyState>Add a repository to search in its files.</EmptyState>
        ) : (
          <SearchPanel repo={searched} branch={branch ?? there?.default_branch ?? "main"} early={early} onEarly={setEarly} />
        )}
      </aside>
    );
  }
  return (
    <aside aria-label="Repositories and projects" className="h-full overflow-auto bg-surface-1 pb-4">
      <Repositories />
      <Projects />
    </aside>
  );
}

function Section({ title, action, children }: { title: string; action: ReactNode; children: ReactNode }) {
  return (
    <section>
      <div className="sticky top-0 z-10 flex h-9 items-center justify-between bg-surface-1 pr-1.5 pl-3">
        <h2 className="text-xs font-semibold text-muted">{title}</h2>
        {action}
      </div>
      {children}
    </section>
  );
}

function Repositories() {
  const { data, error, refetch } = useRepositories();
  const [adding, setAdding] = useState(false);
  return (
    <Section title="Repositories" action={<IconButton small icon={Plus} label="Add a repository" onClick={() => setAdding(true)} />}>
      {error !== null && data === undefined && <ErrorState compact error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Skeleton />}
      {data?.length === 0 && (
        <p className="px-3 pb-2 text-muted">
          None yet.{" "}
          <Button small onClick={() => setAdding(true)}>
            Add a repository
          </Button>
        </p>
      )}
      {data?.map((each) => (
        <RepositoryItem key={each.id} repository={each} />
      ))}
      <AddRepository open={adding} onClose={() => setAdding(false)} />
    </Section>
  );
}

function RepositoryItem({ repository }: { repository: Repository }) {
  const here = useHere();
  const [folded, setFolded] = useStored("side.folded", NONE);
  const open = !folded.includes(repository.id);
  const toggle = () => setFolded((now) => (open ? [...now, repository.id] : now.filter((id) => id !== repository.id)));
  const current = here.repo === repository.id && here.branch === undefined;
  return (
    <div>
      <div className={classNames("mx-1.5 flex h-7 items-center rounded-md hover:bg-surface-2", current && "bg-surface-2")}>
        <button
          type="button"
          aria-expanded={open}
          aria-label={`Branches of ${repository.name}`}
          onClick={toggle}
          className="focus-inset flex h-full w-6 items-center justify-center rounded-md text-muted"
        >
          <ChevronRight aria-hidden size={14} className={classNames("transition-transform", open && "rotate-90")} />
        </button>
        <Link
          {...repositoryPlace(repository.id)}
          title={repository.path}
          aria-current={current ? "page" : undefined}
          className="focus-inset min-w-0 flex-1 truncate rounded-md pr-2 font-medium"
        >
          {repository.name}
        </Link>
        {repository.problem !== null && <Badge meaning="bad" className="pr-2">missing</Badge>}
      </div>
      {open && repository.problem !== null && <p className="px-7 pb-1 text-xs text-muted">{repository.problem}</p>}
      {open && repository.problem === null && <BranchList repository={repository} />}
    </div>
  );
}

function Projects() {
  const { data, error, refetch } = useProjects();
  const add = (
    <Link to="/projects/new" aria-label="New project" className="flex size-6 items-center justify-center rounded-md text-muted hover:bg-surface-2 hover:text-text">
      <Plus aria-hidden size={14} />
    </Link>
  );
  return (
    <Section title="Projects" action={add}>
      {error !== null && data === undefined && <ErrorState compact error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Skeleton lines={2} />}
      {data?.length === 0 && (
        <p className="px-3 text-muted">
          None yet. <Link to="/projects/new" className="text-accent underline underline-offset-2">New project</Link>
        </p>
      )}
      {data?.map((each) => (
        <ProjectItem key={each.id} project={each} />
      ))}
    </Section>
  );
}

function ProjectItem({ project }: { project: Project }) {
  const mark = phaseMark(project);
  return (
    <Link
      {...projectPlace(project.id)}
      className="focus-inset mx-1.5 flex h-7 items-center gap-2 rounded-md px-2 hover:bg-surface-2"
      activeOptions={{ includeSearch: false }}
      activeProps={{ className: "bg-surface-2" }}
    >
      <span className="min-w-0 flex-1 truncate">{project.name}</span>
      {mark.meaning === null ? (
        <span className="shrink-0 text-xs text-muted">{mark.word}</span>
      ) : (
        <Badge meaning={mark.meaning}>{mark.word}</Badge>
      )}
    </Link>
  );
}
