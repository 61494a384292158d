import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";

import type { Project } from "@/api";
import { projectPlace } from "@/lib/places";
import { Badge, RelativeTime } from "@/ui";

import { phaseName, standing } from "./phases";

const HEIGHT = 52;

/** One line for each project; only those on screen are made. */
export function ProjectRows({ projects }: { projects: readonly Project[] }) {
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({ count: projects.length, getScrollElement: () => box.current, estimateSize: () => HEIGHT, overscan: 10 });
  return (
    <div ref={box} className="min-h-0 flex-1 overflow-auto">
      <ul aria-label="Projects" className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map((row) => {
          const project = projects[row.index];
          return (
            project && (
              <li
                key={project.id}
                aria-setsize={projects.length}
                aria-posinset={row.index + 1}
                className="absolute inset-x-0 border-b border-line"
                style={{ height: HEIGHT, transform: `translateY(${row.start}px)` }}
              >
                <ProjectRow project={project} />
              </li>
            )
          );
        })}
      </ul>
    </div>
  );
}

function ProjectRow({ project }: { project: Project }) {
  const now = standing(project);
  return (
    <Link {...projectPlace(project.id)} className="focus-inset flex h-full items-center gap-4 px-4 hover:bg-surface-1">
      <div className="min-w-0 flex-1">
        <div className="flex min-w-0 items-center gap-2">
          <span className="truncate font-medium">{project.name}</span>
          {project.archived && <Badge meaning="attention">archived</Badge>}
        </div>
        <div className="truncate text-xs text-muted">
          <span className="font-mono">{project.id}</span>
          {project.deliverable_type !== null && ` · ${project.deliverable_type}`}
          {` · ${project.agent === "" ? "default agent" : project.agent}`}
        </div>
      </div>
      <div className="w-72 min-w-0 shrink-0 max-md:w-44">
        <div className="text-xs">{phaseName(project.phase)}</div>
        {now.text !== project.phase && (
          <Badge meaning={now.meaning} className="max-w-full *:last:truncate">
            <span className="truncate">{now.text}</span>
          </Badge>
        )}
      </div>
      <div className="w-36 shrink-0 text-right text-xs whitespace-nowrap text-muted max-md:w-20">
        <div>
          <RelativeTime time={project.updated_at} />
        </div>
        <div className="max-md:hidden">
          begun <RelativeTime time={project.created_at} />
        </div>
      </div>
    </Link>
  );
}
