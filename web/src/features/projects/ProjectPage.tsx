import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { FolderX } from "lucide-react";
import { useEffect, useRef, useState, type ReactNode } from "react";

import { isProblem, keys, topicOf, useProject, useTopic, type Project } from "@/api";
import { useCommand } from "@/lib/commands";
import { projectPlace, type ProjectTab } from "@/lib/places";
import { EmptyState, ErrorState, Panel, PanelEdge, Panels, Skeleton, Tabs } from "@/ui";

import { ActionBar } from "./ActionBar";
import { Artifacts } from "./Artifacts";
import { Contracts } from "./Contracts";
import { Documents } from "./Documents";
import { Explorer } from "./Explorer";
import { Log } from "./Log";
import { Notepad } from "./Notepad";
import { PhaseBar } from "./PhaseBar";
import { Polish } from "./Polish";
import { ProjectChat } from "./ProjectChat";
import { ProjectHeader } from "./ProjectHeader";

export interface ProjectPageProps {
  id: string;
  tab: ProjectTab;
}

export function ProjectPage({ id, tab }: ProjectPageProps) {
  const project = useProject(id);
  useTopic(topicOf.project(id), () => undefined); // what is heard makes the queries stale
  useClockWhileBusy(id, project.data?.busy === true);
  if (project.data !== undefined) return <Shown project={project.data} tab={tab} />;
  if (isProblem(project.error, "project_missing")) {
    return (
      <EmptyState icon={FolderX} title="No such project" action={<Link to="/projects" className="text-accent underline">All projects</Link>}>
        It was deleted, or it is not shared with you.
      </EmptyState>
    );
  }
  if (project.isError) return <ErrorState error={project.error} onRetry={() => void project.refetch()} />;
  return <Skeleton lines={6} label="Loading the project" />;
}

/** Events tell what happens; a slow clock makes sure that a lost end of work does not leave buttons disabled. */
function useClockWhileBusy(id: string, busy: boolean): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!busy) return;
    const timer = setInterval(() => void client.invalidateQueries({ queryKey: [...keys.project(id), "itself"] }), 5000);
    return () => clearInterval(timer);
  }, [client, id, busy]);
}

const TABS: readonly [ProjectTab, string][] = [
  ["chat", "Chat"],
  ["explorer", "Explorer"],
  ["documents", "Documents"],
  ["contracts", "Contracts"],
  ["polish", "Polish"],
  ["artifacts", "Artifacts"],
  ["log", "Log"],
];

function Shown({ project, tab }: { project: Project; tab: ProjectTab }) {
  const navigate = useNavigate();
  const [input, setInput] = useState("");
  // Input is asked for once: another question closes what was opened for this one.
  const inputOpen = project.waiting === "stuck" && input === project.question;
  const go = (next: ProjectTab) => void navigate(projectPlace(project.id, next));
  const content: Record<ProjectTab, ReactNode> = {
    chat: <ChatWithDocuments project={project} inputOpen={inputOpen} />,
    explorer: <Explorer project={project} />,
    documents: <Documents project={project} />,
    contracts: <Contracts project={project} />,
    polish: <Polish project={project} />,
    artifacts: <Artifacts project={project} />,
    log: <Log project={project.id} />,
  };
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex flex-col gap-3 border-b border-line px-4 pt-3 pb-2">
        <ProjectHeader project={project} />
        <PhaseBar project={project} />
        <ActionBar
          project={project}
          inputOpen={inputOpen}
          onInput={() => {
            setInput(project.question);
            go("chat");
          }}
        />
        <Notepad project={project.id} />
      </div>
      {TABS.map(([value, title]) => (
        <TabCommand key={value} title={`Show ${title.toLowerCase()} of the project`} id={`project.show.${value}`} run={() => go(value)} />
      ))}
      <div className="min-h-0 flex-1">
        <Tabs
          label="Project"
          value={tab}
          onChange={go}
          tabs={TABS.map(([value, label]) => ({
            value,
            label: value === "polish" && project.rounds.length > 0 ? `${label} (${project.rounds.length})` : label,
            content: value === tab ? content[value] : null,
          }))}
        />
      </div>
    </div>
  );
}

function TabCommand({ id, title, run }: { id: string; title: string; run: () => void }) {
  useCommand({ id, title, group: "Project", run });
  return null;
}

const BESIDE = 820;

/** Where there is room, the documents stand beside the chat. */
function ChatWithDocuments({ project, inputOpen }: { project: Project; inputOpen: boolean }) {
  const place = useRef<HTMLDivElement>(null);
  const [wide, setWide] = useState<boolean>();
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWide(element.clientWidth >= BESIDE));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const chat = <ProjectChat project={project} inputOpen={inputOpen} />;
  return (
    <div ref={place} className="h-full min-h-0">
      {wide === true && (
        <Panels id="project">
          <Panel id="chat" size="54" min={320}>
            {chat}
          </Panel>
          <PanelEdge />
          <Panel id="documents" size="46" min={280}>
            {project.phase === "brain_dump" ? <Explorer project={project} beside /> : <Documents project={project} />}
          </Panel>
        </Panels>
      )}
      {wide === false && chat}
    </div>
  );
}
