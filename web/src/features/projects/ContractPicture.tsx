import { ArrowRight } from "lucide-react";

import type { Shapes } from "@/api";
import { plural } from "@/lib/format";

import { useContractPictures, type ContractType } from "./contract_queries";

/** What the text of a contract looks like: phases as a timeline, endpoints as a table, layers as a picture. */
export function ContractPicture({ project, type }: { project: string; type: ContractType }) {
  const pictures = useContractPictures(project);
  if (pictures.data === undefined) return null;
  const { phases, endpoints, layers } = pictures.data;
  if (type === "phases" && phases.length > 0) return <Timeline phases={phases} />;
  if (type === "physics" && endpoints.length > 0) return <Endpoints endpoints={endpoints} />;
  if (type === "boundaries" && layers.length > 0) return <Layers layers={layers} />;
  return null;
}

function Timeline({ phases }: { phases: Shapes["DrawnPhaseShape"][] }) {
  return (
    <ol aria-label="Timeline of phases" className="flex flex-col border-b border-line px-4 py-3 sm:flex-row sm:gap-0 sm:overflow-x-auto">
      {phases.map((phase) => (
        <li key={phase.number} className="flex min-w-36 flex-1 gap-3 pb-3 sm:flex-col sm:gap-1 sm:pr-3 sm:pb-0">
          <span className="flex items-center gap-2">
            <span className="flex size-6 shrink-0 items-center justify-center rounded-full border border-line bg-surface-2 text-xs font-medium tabular-nums">{phase.number}</span>
            <span aria-hidden className="hidden h-px flex-1 bg-line sm:block" />
          </span>
          <span className="flex min-w-0 flex-col gap-0.5">
            <span className="font-medium">{phase.name}</span>
            <span className="text-xs text-muted">{phase.objective}</span>
            <span className="text-xs text-muted tabular-nums">
              {plural(phase.deliverables, "deliverable")} · {plural(phase.criteria, "criterion", "criteria")}
              {phase.depends_on.length > 0 && ` · after ${phase.depends_on.join(", ")}`}
            </span>
          </span>
        </li>
      ))}
    </ol>
  );
}

function Endpoints({ endpoints }: { endpoints: Shapes["EndpointShape"][] }) {
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it is scrolled, by keyboard too
    <div tabIndex={0} role="region" aria-label="Endpoints" className="focus-inset overflow-x-auto border-b border-line px-4 py-3">
      <table className="w-full text-left text-xs">
        <thead>
          <tr className="text-muted">
            {["Method", "Path", "Operation", "Summary", "Responses", "Sign-in"].map((name) => (
              <th key={name} scope="col" className="py-1 pr-3 font-medium whitespace-nowrap">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {endpoints.map((each) => (
            <tr key={each.operation} className="border-t border-line align-top">
              <td className="py-1 pr-3 font-mono uppercase">{each.method}</td>
              <td className="py-1 pr-3 font-mono">{each.path}</td>
              <td className="py-1 pr-3 font-mono">{each.operation}</td>
              <td className="py-1 pr-3">{each.summary}</td>
              <td className="py-1 pr-3 tabular-nums">{each.responses.join(", ")}</td>
              <td className="py-1 pr-3">{each.is_public ? "No" : "Yes"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Layers({ layers }: { layers: Shapes["DrawnLayerShape"][] }) {
  return (
    <ul aria-label="Layers" className="flex flex-col gap-2 border-b border-line px-4 py-3">
      {layers.map((layer) => (
        <li key={layer.name} className="flex flex-col gap-1 rounded-md border border-line bg-surface-1 px-3 py-2 sm:flex-row sm:items-center sm:gap-4">
          <span className="w-28 shrink-0 font-medium">{layer.name}</span>
          <span className="min-w-0 flex-1 font-mono text-xs break-words text-muted">{layer.paths.join(", ")}</span>
          <span className="flex items-center gap-1 text-xs">
            <ArrowRight aria-hidden size={13} />
            {layer.uses.length > 0 ? `may use ${layer.uses.join(", ")}` : "uses no other layer"}
          </span>
          {layer.forbidden.length > 0 && <span className="text-xs text-bad">never imports {layer.forbidden.join(", ")}</span>}
        </li>
      ))}
    </ul>
  );
}
