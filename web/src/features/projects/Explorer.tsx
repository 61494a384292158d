import { Compass, Download } from "lucide-react";

import { artifactAddress, type Project } from "@/api";
import { Badge, Button, Chip, EmptyState, ErrorState, Skeleton, toast, type Meaning } from "@/ui";

import { useEnterMode, useExploration, useHandOver, useExplorationChange, type Assumption, type Exploration } from "./exploration";
import { told } from "./problems";

/** The working state beside the conversation: register, probes, stakeholders, briefs. */
export function Explorer({ project }: { project: Project }) {
  const seen = useExploration(project.id);
  if (seen.isError) return <ErrorState error={seen.error} onRetry={() => void seen.refetch()} />;
  if (seen.data === undefined) return <Skeleton lines={6} label="Loading the exploration" />;
  const known = seen.data;
  return (
    <div className="mx-auto flex max-w-240 flex-col gap-5 px-4 py-4">
      <Head project={project.id} known={known} />
      <Register project={project.id} known={known} />
      <Probes known={known} />
      <Stakeholders known={known} />
      <Briefs project={project.id} known={known} />
    </div>
  );
}

function Head({ project, known }: { project: string; known: Exploration }) {
  const enter = useEnterMode(project);
  const hand = useHandOver(project);
  return (
    <section aria-label="Where the exploration is" className="flex flex-col gap-2">
      <h2 className="flex flex-wrap items-center gap-2 font-semibold">
        {known.mode_title} <Chip>{`turn ${known.turn}`}</Chip>
        {known.run !== null && <Badge meaning="running">thinking</Badge>}
      </h2>
      {known.problem !== null && <p>{known.problem}</p>}
      <p className="text-muted">{known.next}</p>
      {known.proposal !== null && (
        <div className="flex flex-wrap items-center gap-2 rounded-md border border-line px-3 py-2">
          <span className="min-w-0 flex-1">{known.proposal.reason}</span>
          <Button
            disabled={enter.isPending}
            onClick={() => {
              if (known.proposal !== null) enter.mutate(known.proposal.mode, { onError: (error) => toast({ text: told(error), meaning: "bad" }) });
            }}
          >
            {`Go on with ${known.modes.find(({ name }) => name === known.proposal?.mode)?.title ?? ""}`}
          </Button>
        </div>
      )}
      {known.broken_ground.map((each) => (
        <p key={`${String(each["id"])}${String(each["document"])}`}>
          <Badge meaning="bad">{`${String(each["id"])} in ${String(each["document"])} no longer holds`}</Badge>
        </p>
      ))}
      {known.phase === "brain_dump" && known.problem !== null && (
        <div>
          <Button
            disabled={hand.isPending || known.handed_over}
            onClick={() => hand.mutate(undefined, { onSuccess: ({ text }) => toast({ text }), onError: (error) => toast({ text: told(error), meaning: "bad" }) })}
          >
            {known.handed_over ? "Part of the brain dump" : "Make this the brain dump"}
          </Button>
        </div>
      )}
      {known.flags.map((text) => (
        <p key={text} className="text-sm text-muted">
          {text}
        </p>
      ))}
    </section>
  );
}

const STATUS: Record<Assumption["status"], Meaning> = { active: "running", at_risk: "attention", invalidated: "bad", confirmed: "good" };

function Register({ project, known }: { project: string; known: Exploration }) {
  const change = useExplorationChange(project);
  const set = (id: string, status: Assumption["status"]) =>
    change.mutate(
      { tool: "update_assumption_status", arguments: { assumption_id: id, status, reason: "Set in the register." } },
      { onSuccess: ({ text }) => toast({ text }), onError: (error) => toast({ text: told(error), meaning: "bad" }) },
    );
  return (
    <section aria-label="Assumptions" className="flex flex-col gap-2">
      <h2 className="font-semibold">Assumptions</h2>
      {known.assumptions.length === 0 ? (
        <EmptyState icon={Compass}>Nothing is registered yet. Say what problem you are after.</EmptyState>
      ) : (
        <div className="overflow-x-auto rounded-md border border-line">
          <table className="w-full text-left text-sm">
            <thead className="text-muted">
              <tr>
                {["Id", "Risk", "Assumption", "Impact", "Known", "Status"].map((title) => (
                  <th key={title} scope="col" className="px-3 py-2 font-normal">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {known.assumptions.map((each) => (
                <tr key={each.id}>
                  <td className="px-3 py-2">{each.id}</td>
                  <td className="px-3 py-2">
                    {each.above_line && each.status !== "invalidated" ? <Badge meaning="attention">{each.risk.toFixed(1)}</Badge> : each.risk.toFixed(1)}
                  </td>
                  <td className="min-w-48 px-3 py-2">
                    {each.claim}
                    {each.depends_on.length > 0 && <span className="text-muted">{` rests on ${each.depends_on.join(", ")}`}</span>}
                  </td>
                  <td className="px-3 py-2">{each.impact}</td>
                  <td className="px-3 py-2">{each.confidence}</td>
                  <td className="px-3 py-2">
                    <span className="flex items-center gap-2">
                      <Badge meaning={STATUS[each.status]}>{each.status.replace("_", " ")}</Badge>
                      <select
                        aria-label={`Status of ${each.id}`}
                        className="rounded border border-line bg-surface-0 px-1 py-0.5"
                        value={each.status}
                        disabled={change.isPending}
                        onChange={(event) => set(each.id, event.target.value as Assumption["status"])}
                      >
                        {Object.keys(STATUS).map((status) => (
                          <option key={status} value={status}>
                            {status.replace("_", " ")}
                          </option>
                        ))}
                      </select>
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

const MARKS = { open: "○", asked: "◐", done: "●" } as const;

function Probes({ known }: { known: Exploration }) {
  const shown = known.modes.filter(({ name, probes }) => name === (known.mode ?? "discover") || probes.some(({ state }) => state !== "open"));
  return (
    <section aria-label="Probes" className="flex flex-col gap-2">
      <h2 className="font-semibold">Probes</h2>
      {shown.map((mode) => (
        <div key={mode.name}>
          <h3 className="text-muted">{mode.completed ? `${mode.title}, complete` : mode.title}</h3>
          <ul>
            {mode.probes.map((probe) => (
              <li key={probe.name} title={probe.question}>
                <span aria-label={probe.state}>{MARKS[probe.state]}</span> {probe.name.replaceAll("_", " ")}
                {probe.finding !== "" && <span className="text-muted">{`: ${probe.finding}`}</span>}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

function Stakeholders({ known }: { known: Exploration }) {
  if (known.stakeholders.length === 0) return null;
  return (
    <section aria-label="Stakeholders" className="flex flex-col gap-2">
      <h2 className="font-semibold">Stakeholders</h2>
      <ul>
        {known.stakeholders.map((each) => (
          <li key={`${each.id}${each.name}`}>
            {each.name} <span className="text-muted">{each.role.replaceAll("_", " ")}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Briefs({ project, known }: { project: string; known: Exploration }) {
  if (known.artifacts.length === 0) return null;
  return (
    <section aria-label="Briefs" className="flex flex-col gap-2">
      <h2 className="font-semibold">Briefs</h2>
      <ul className="divide-y divide-line rounded-md border border-line">
        {known.artifacts.map(({ type, path }) => {
          const name = path.replace("artifacts/", "");
          return (
            <li key={path}>
              <a href={artifactAddress(project, name)} download={name} className="focus-inset flex items-center gap-2 px-3 py-2 hover:bg-surface-1">
                <span className="min-w-0 flex-1">{type.replaceAll("_", " ")}</span>
                <Download aria-hidden size={14} className="text-muted" />
              </a>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
