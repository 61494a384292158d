import { Brain } from "lucide-react";
import { useState } from "react";

import { useMemory, useProjects, type Shapes } from "@/api";
import { Badge, EmptyState, ErrorState, RelativeTime, Skeleton } from "@/ui";

import { Part } from "./Part";
import { Select } from "./Select";

export function Memory() {
  const projects = useProjects();
  const [chosen, setChosen] = useState<string | null>(null);
  const id = chosen ?? projects.data?.[0]?.id;
  if (projects.data === undefined) return projects.error === null ? <Skeleton /> : <ErrorState error={projects.error} onRetry={() => void projects.refetch()} />;
  if (id === undefined) return <EmptyState icon={Brain}>Nothing is remembered yet: projects write their memory as they go.</EmptyState>;
  return (
    <>
      <div className="mb-6 flex items-center gap-3">
        <label htmlFor="memory-of" className="font-medium">
          Project
        </label>
        <Select id="memory-of" value={id} onChange={(event) => setChosen(event.target.value)} className="max-w-90">
          {projects.data.map((project) => (
            <option key={project.id} value={project.id}>
              {project.name}
            </option>
          ))}
        </Select>
      </div>
      <Layers key={id} project={id} />
    </>
  );
}

function Layers({ project }: { project: string }) {
  const { data, error, refetch } = useMemory(project);
  if (data === undefined) return error === null ? <Skeleton lines={5} /> : <ErrorState error={error} onRetry={() => void refetch()} />;
  const { initiative, entries, warnings, source } = data;
  return (
    <>
      {warnings.map((warning) => (
        <div key={warning.code} className="mb-4 rounded-md border border-line px-4 py-3">
          <Badge meaning="attention">{warning.message}</Badge>
          <p className="text-xs text-muted">{warning.hint}</p>
        </div>
      ))}
      <Part title="Initiative" about={source === null ? "No layer holds one." : `Read from ${source}, which rules where layers differ.`}>
        {initiative === null ? <p className="px-4 py-3 text-muted">No work yet.</p> : <Initiative {...initiative} />}
      </Part>
      <Part title="Entries" about="Learnings, checkpoints and completions, newest last.">
        {entries.length === 0 && <p className="px-4 py-3 text-muted">None yet.</p>}
        {entries.map((entry, i) => (
          <p key={i} className="flex gap-3 px-4 py-2.5">
            <span className="w-24 shrink-0 text-xs leading-5 text-muted">{entry.kind}</span>
            <span className="min-w-0 flex-1 break-words">{entry.text}</span>
            <span className="text-xs leading-5 text-muted">
              <RelativeTime time={entry.at} />
            </span>
          </p>
        ))}
      </Part>
    </>
  );
}

function Initiative({ title, type, status, phase, milestones, reason, outcome, updated }: Shapes["InitiativeShape"]) {
  return (
    <div className="flex flex-col gap-1 px-4 py-3">
      <p className="flex flex-wrap items-center gap-x-3">
        <span className="font-medium">{title}</span>
        <span className="text-xs text-muted">
          {type} · {status.replaceAll("_", " ")}
          {phase !== "" && ` · ${phase.replaceAll("_", " ")}`} · <RelativeTime time={updated} />
        </span>
      </p>
      {(reason || outcome) !== "" && <p>{reason || outcome}</p>}
      <ul className="text-muted">
        {milestones.map((milestone) => (
          <li key={milestone.id}>
            {milestone.title}: {milestone.status.replaceAll("_", " ")}
            {milestone.total > 0 && `, ${milestone.done} of ${milestone.total}`}
          </li>
        ))}
      </ul>
    </div>
  );
}
