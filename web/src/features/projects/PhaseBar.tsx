import { Check, CircleDot, CircleX, Hourglass } from "lucide-react";

import type { Project } from "@/api";
import { duration } from "@/lib/format";
import { classNames } from "@/lib/class_names";
import { Tooltip } from "@/ui";

import { PHASES, standing, phaseIndex } from "./phases";

/** The six phases of its work, and below the present one what it waits for. */
export function PhaseBar({ project }: { project: Project }) {
  const now = standing(project);
  const at = phaseIndex(project);
  const color = { running: "text-running", good: "text-good", attention: "text-attention", bad: "text-bad" }[now.meaning];
  return (
    <div className="flex flex-col gap-1">
      <ol aria-label="Phases" className="flex gap-1">
        {PHASES.map(({ phase, title }, i) => {
          const [past, here] = [i < at, i === at];
          const seconds = project.phase_times[phase];
          const Icon = past ? Check : !here ? null : now.meaning === "running" ? CircleDot : now.meaning === "bad" ? CircleX : Hourglass;
          const state = past ? "finished" : here ? "now" : "to come";
          return (
            <li key={phase} aria-current={here ? "step" : undefined} className="min-w-0 flex-1">
              <div
                className={classNames(
                  "h-1 rounded-full",
                  past ? "bg-good" : here ? classNames("bg-current", color) : "bg-surface-2",
                )}
              />
              <Tooltip text={seconds === undefined ? `${title}: ${state}` : `${title}: ${state}, ${duration(seconds)}`}>
                <div className={classNames("mt-1 flex items-center gap-1 text-xs", here ? "font-medium text-text" : "text-muted")}>
                  {Icon && <Icon aria-hidden size={12} className={classNames("shrink-0", past ? "text-good" : color)} />}
                  <span className="truncate">{title}</span>
                  <span className="sr-only">, {state}</span>
                </div>
              </Tooltip>
            </li>
          );
        })}
      </ol>
      <p role="status" aria-label="Where it stands" className={classNames("text-xs", color)}>
        {capital(now.text)}
      </p>
    </div>
  );
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
