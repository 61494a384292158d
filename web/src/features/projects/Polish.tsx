import { lazy, Suspense, useMemo, useState } from "react";
import { ChartLine } from "lucide-react";

import { useSettings, type Project } from "@/api";
import { patiently } from "@/lib/patiently";
import { EmptyState } from "@/ui";

import { ProjectTests } from "./ProjectTests";
import { Findings, RoundTable } from "./RoundTable";
import { roundsOf, SEVERITIES, type Severity } from "./rounds";

const Chart = lazy(() => patiently(() => import("./PolishChart")));
const USUAL = { critical: 0, medium: 3, minor: 5 };
const LOOK: Record<Severity, string> = { critical: "border-bad", medium: "border-dashed border-attention", minor: "border-dotted border-running" };

/** How the findings went, round by round, and what the guards said to it. */
export function Polish({ project }: { project: Project }) {
  const rounds = useMemo(() => roundsOf(project), [project]);
  const limits = useLimits();
  const [chosen, setChosen] = useState<number>();
  const shown = rounds.find(({ iteration }) => iteration === chosen) ?? rounds.at(-1);
  return (
    <div className="mx-auto flex max-w-250 flex-col gap-5 px-4 py-4">
      {project.deliverable_type !== "plan" && <ProjectTests project={project} last={rounds.at(-1)} />}
      {shown === undefined ? (
        <EmptyState icon={ChartLine} title="No round yet">
          Polishing begins by itself after the build: each round tests, reviews and mends, until the guards are content.
        </EmptyState>
      ) : (
        <>
          <figure className="flex flex-col gap-1">
            <figcaption className="flex flex-wrap items-center gap-x-4 gap-y-1">
              <h2 className="flex-1 font-semibold">Findings by round</h2>
              {SEVERITIES.map((name) => (
                <span key={name} className="flex items-center gap-1.5 text-xs text-muted">
                  <span aria-hidden className={`w-5 border-t-2 ${LOOK[name]}`} />
                  {name}, at most {limits[name]}
                </span>
              ))}
            </figcaption>
            <Suspense fallback={<div className="h-60" />}>
              <Chart rounds={rounds} limits={limits} />
            </Suspense>
          </figure>
          <RoundTable rounds={rounds} chosen={shown.iteration} onChoose={setChosen} />
          <Findings round={shown} />
        </>
      )}
    </div>
  );
}

function useLimits(): Record<Severity, number> {
  const settings = useSettings("polish").data;
  return useMemo(() => {
    const of = (name: Severity) => {
      const value = settings?.find((each) => each.name === `polish.${name}_max`)?.value;
      return typeof value === "number" ? value : USUAL[name];
    };
    return { critical: of("critical"), medium: of("medium"), minor: of("minor") };
  }, [settings]);
}
