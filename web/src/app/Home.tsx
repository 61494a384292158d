import { Link, useNavigate } from "@tanstack/react-router";
import { FolderGit2, LayoutList, Play } from "lucide-react";
import type { ReactNode } from "react";

import { useProjects, useRepositories, useRunExample, type Project } from "@/api";
import { projectPlace, repositoryPlace } from "@/lib/places";
import { Badge, Button, ErrorState, RelativeTime, Skeleton } from "@/ui";

import { AddRepositoryForm } from "./AddRepository";
import { phaseMark } from "./phases";

export function Home() {
  return (
    <div className="mx-auto flex max-w-190 flex-col gap-8 px-6 py-8">
      <header>
        <h1 className="text-2xl font-semibold">Forge</h1>
        <p className="text-muted">Branches are workspaces. People and agents work on them side by side, and every change is a commit.</p>
      </header>
      <Repositories />
      <Projects />
    </div>
  );
}

function Section({ icon, title, children }: { icon: ReactNode; title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-2">
      <h2 className="flex items-center gap-2 text-lg font-medium">
        {icon}
        {title}
      </h2>
      {children}
    </section>
  );
}

const ROW = "flex min-h-9 items-center gap-3 rounded-md px-3 hover:bg-surface-2";

function Repositories() {
  const { data, error, refetch } = useRepositories();
  return (
    <Section icon={<FolderGit2 aria-hidden size={18} />} title="Repositories">
      {data === undefined && (error === null ? <Skeleton /> : <ErrorState error={error} onRetry={() => void refetch()} />)}
      {data?.length === 0 && <p className="text-muted">Add a git repository of this machine to see its branches and talk to an agent on one.</p>}
      {data !== undefined && data.length > 0 && (
        <ul className="rounded-md border border-line p-1">
          {data.map((each) => (
            <li key={each.id}>
              <Link {...repositoryPlace(each.id)} className={ROW}>
                <span className="font-medium">{each.name}</span>
                <span className="min-w-0 flex-1 truncate text-xs text-muted">{each.path}</span>
                {each.problem !== null && <Badge meaning="bad">missing</Badge>}
              </Link>
            </li>
          ))}
        </ul>
      )}
      {data !== undefined && <AddRepositoryForm />}
    </Section>
  );
}

function lastChanged(projects: readonly Project[]): Project[] {
  return [...projects].sort((a, b) => b.updated_at.localeCompare(a.updated_at));
}

function Projects() {
  const { data, error, refetch } = useProjects();
  return (
    <Section icon={<LayoutList aria-hidden size={18} />} title="Projects">
      {data === undefined && (error === null ? <Skeleton /> : <ErrorState error={error} onRetry={() => void refetch()} />)}
      {data?.length === 0 && (
        <p className="text-muted">A project leads from loose thoughts to a plan or to code. Run the example to watch one: a brain dump becomes tested code in a few seconds. It needs no model and can be thrown away.</p>
      )}
      {data !== undefined && data.length > 0 && (
        <ul className="rounded-md border border-line p-1">
          {lastChanged(data).slice(0, 8).map((each) => {
            const mark = phaseMark(each);
            return (
              <li key={each.id}>
                <Link {...projectPlace(each.id)} className={ROW}>
                  <span className="min-w-0 flex-1 truncate font-medium">{each.name}</span>
                  {mark.meaning === null ? <span className="text-xs text-muted">{mark.word}</span> : <Badge meaning={mark.meaning}>{mark.word}</Badge>}
                  <span className="text-xs text-muted">
                    <RelativeTime time={each.updated_at} />
                  </span>
                </Link>
              </li>
            );
          })}
        </ul>
      )}
      {data !== undefined && <ProjectButtons first={data.length === 0} />}
    </Section>
  );
}

function ProjectButtons({ first }: { first: boolean }) {
  const navigate = useNavigate();
  const example = useRunExample();
  const run = () => example.mutate(undefined, { onSuccess: ({ id }) => void navigate(projectPlace(id)) });
  return (
    <div className="flex flex-wrap gap-2">
      <Button kind={first ? "plain" : "primary"} onClick={() => void navigate({ to: "/projects/new" })}>
        New project
      </Button>
      <Button kind={first ? "primary" : "plain"} icon={Play} busy={example.isPending} onClick={run}>
        Run the example
      </Button>
      {example.error !== null && <ErrorState compact error={example.error} />}
    </div>
  );
}
