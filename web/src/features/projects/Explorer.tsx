import { Link } from "@tanstack/react-router";
import { CircleAlert, CircleX, MessageSquare } from "lucide-react";

import { useSayToProject, type Project } from "@/api";
import { classNames } from "@/lib/class_names";
import { projectPlace } from "@/lib/places";
import { Badge, Button, Chip, ErrorState, InlineCode, Skeleton, toast } from "@/ui";

import { Briefs, CitedDocuments, History, Metrics, Risks } from "./ExplorerSections";
import { useEnterMode, useExploration, useHandOver, type Exploration } from "./exploration";
import { told } from "./problems";
import { Register } from "./Register";

export interface ExplorerProps {
  project: Project;
  /** The chat is beside it. */
  beside?: boolean;
}

/** The working state of the exploration: problem, register, questions, stakeholders, briefs. */
export function Explorer({ project, beside = false }: ExplorerProps) {
  const seen = useExploration(project.id);
  if (seen.isError) return <ErrorState error={seen.error} onRetry={() => void seen.refetch()} />;
  if (seen.data === undefined) return <Skeleton lines={6} label="Loading the exploration" />;
  const known = seen.data;
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it is scrolled, by keyboard too
    <div role="region" aria-label="Exploration" tabIndex={0} className="focus-inset @container h-full w-full overflow-y-auto">
      <div className="mx-auto flex w-full max-w-240 flex-col gap-5 px-4 py-4 break-words">
        <Head project={project.id} known={known} beside={beside} />
        <Register project={project.id} known={known} />
        <Questions known={known} />
        <Stakeholders known={known} />
        <Metrics known={known} />
        <Risks known={known} />
        <Briefs project={project.id} known={known} />
        <CitedDocuments known={known} />
        <History known={known} />
      </div>
    </div>
  );
}

function Head({ project, known, beside }: { project: string; known: Exploration; beside: boolean }) {
  return (
    <section aria-label="Where the exploration is" className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="font-semibold">{known.mode_title}</h2>
        {known.turn > 0 && <Chip>{`turn ${known.turn}`}</Chip>}
        {known.run !== null && known.waiting && <Badge meaning="running">thinking</Badge>}
      </div>
      {known.problem !== null && <p>{known.problem}</p>}
      <p className="text-muted">
        <InlineCode text={known.next} />
      </p>
      {!beside && known.phase === "brain_dump" && (
        <Link {...projectPlace(project, "chat")} className="inline-flex items-center gap-1.5 self-start text-accent underline">
          <MessageSquare aria-hidden size={14} /> Answer in the chat
        </Link>
      )}
      {!(beside && known.phase === "brain_dump") && <Proposal project={project} known={known} />}
      {known.broken_ground.map((each) => (
        <Warning key={`${String(each["id"])}${String(each["document"])}`} bad>
          {`${String(each["id"])} in ${String(each["document"])} no longer holds`}
        </Warning>
      ))}
      {known.warning !== "" && <Warning>{known.warning}</Warning>}
      {known.flags.map((text) => (
        <Warning key={text}>{text}</Warning>
      ))}
      <HandOver project={project} known={known} />
    </section>
  );
}

function Warning({ bad = false, children }: { bad?: boolean; children: string }) {
  const Icon = bad ? CircleX : CircleAlert;
  return (
    <p className={classNames("flex gap-1.5", bad ? "text-bad" : "text-attention")}>
      <Icon aria-hidden size={14} className="mt-[3px] shrink-0" />
      <span className="min-w-0">{children}</span>
    </p>
  );
}

function Proposal({ project, known }: { project: string; known: Exploration }) {
  const enter = useEnterMode(project);
  const say = useSayToProject(project);
  const proposal = known.proposal;
  if (proposal === null) return null;
  const onError = (error: unknown) => toast({ text: told(error), meaning: "bad" });
  // While there is a chat, a yes in it: the explorer answers with the first question of the mode.
  const accept = () => (known.phase === "brain_dump" ? say.mutate({ text: "yes" }, { onError }) : enter.mutate(proposal.mode, { onError }));
  return (
    <div className="flex flex-wrap items-center gap-2 rounded-md border border-line px-3 py-2">
      <span className="min-w-48 flex-1">{proposal.reason}</span>
      <Button busy={enter.isPending || say.isPending || known.run !== null} onClick={accept}>
        {`Go on with ${known.modes.find(({ name }) => name === proposal.mode)?.title ?? proposal.mode}`}
      </Button>
    </div>
  );
}

function HandOver({ project, known }: { project: string; known: Exploration }) {
  const hand = useHandOver(project);
  if (known.phase !== "brain_dump" || known.problem === null) return null;
  if (known.handed_over) return <Badge meaning="good">Part of the brain dump. Distill reads it.</Badge>;
  return (
    <Button
      className="self-start"
      busy={hand.isPending}
      onClick={() => hand.mutate(undefined, { onSuccess: ({ text }) => toast({ text }), onError: (error) => toast({ text: told(error), meaning: "bad" }) })}
    >
      Make this the brain dump
    </Button>
  );
}

const MARKS = { open: "○", asked: "◐", done: "●" } as const;
const STATES = { open: "Open", asked: "Asked", done: "Answered" } as const;

function Questions({ known }: { known: Exploration }) {
  const shown = known.modes.filter(({ name, probes }) => name === (known.mode ?? "discover") || probes.some(({ state }) => state !== "open"));
  return (
    <section aria-label="Questions of the mode" className="flex flex-col gap-2">
      <h2 className="font-semibold">Questions</h2>
      {shown.map((mode) => (
        <div key={mode.name} className="flex flex-col gap-1">
          <h3 className="text-muted">{mode.completed ? `${mode.title}, complete` : mode.title}</h3>
          <ul className="flex flex-col gap-1.5">
            {mode.probes.map((probe) => (
              <li key={probe.name} className="flex gap-2" title={probe.purpose}>
                <span role="img" aria-label={STATES[probe.state]}>
                  {MARKS[probe.state]}
                </span>
                <span className="min-w-0">
                  {probe.question}
                  {probe.finding !== "" && <span className="block text-muted">{probe.finding}</span>}
                </span>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

const ROLES: Record<string, string> = {
  decision_authority: "Decides",
  pain_holder: "Has the problem",
  status_quo_beneficiary: "Gains from how it is today",
  execution_dependency: "Needed to carry it out",
};

/** Who is who: one group for each role. */
function Stakeholders({ known }: { known: Exploration }) {
  if (known.stakeholders.length === 0) return null;
  const roles = [...new Set([...Object.keys(ROLES), ...known.stakeholders.map(({ role }) => role)])];
  return (
    <section aria-label="Stakeholders" className="flex flex-col gap-2">
      <h2 className="font-semibold">Stakeholders</h2>
      <div className="grid gap-2 @md:grid-cols-2">
        {roles.map((role) => {
          const people = known.stakeholders.filter((each) => each.role === role);
          return (
            <div key={role} className="min-w-0 rounded-md border border-line px-3 py-2">
              <h3 className="text-xs text-muted">{ROLES[role] ?? role.replaceAll("_", " ")}</h3>
              {people.length === 0 ? (
                <p className="text-muted">Nobody named yet</p>
              ) : (
                <ul>
                  {people.map((each) => (
                    <li key={`${each.id}${each.name}`} title={each.note}>
                      {each.name}
                    </li>
                  ))}
                </ul>
              )}
            </div>
          );
        })}
      </div>
    </section>
  );
}
