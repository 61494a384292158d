/** The way of a project in words: the six phases of its work, its state, and what it waits for. */
import type { Project } from "@/api";
import { plural } from "@/lib/format";
import type { Meaning } from "@/ui";

export type Phase = "brain_dump" | "distilling" | "human_review" | "spec_building" | "building" | "polishing";

export const PHASES: readonly { phase: Phase; title: string }[] = [
  { phase: "brain_dump", title: "Brain dump" },
  { phase: "distilling", title: "Distill" },
  { phase: "human_review", title: "Review" },
  { phase: "spec_building", title: "Specify" },
  { phase: "building", title: "Build" },
  { phase: "polishing", title: "Polish" },
];

const NAMES: Record<string, string> = {
  brain_dump: "Brain dump",
  distilling: "Distilling",
  human_review: "Human review",
  spec_building: "Spec building",
  building: "Building",
  polishing: "Polishing",
  done: "Done",
  halted: "Halted",
};

const REASONS: Record<string, string> = {
  plan_incomplete: "the plan is not complete",
  guard_hallucination: "the findings jumped up after falling",
  guard_fabrication: "the review seems to invent findings",
  guard_max_iterations: "the maximum of rounds is reached",
  human_terminated: "terminated by a person",
  agent_failure: "the model gave no usable answer",
  file_system_error: "files could not be written",
  phase3_output_missing: "nothing was built",
  phase3_output_incomplete: "what was built is not complete",
  server_restart: "the server was restarted",
  tests_cannot_run: "the tests cannot run",
  guard_tests: "the tests still do not pass",
  guard_no_change: "the agent changed nothing",
};

/** The label of a project whose work a person stopped, and may take up again. */
const STOPPED = "Stopped by you";

const words = (name: string) => name.replaceAll("_", " ");

export function phaseName(phase: string): string {
  return NAMES[phase] ?? words(phase);
}

export function haltWords(reason: string | null): string {
  return reason === null ? "it stopped" : (REASONS[reason] ?? words(reason));
}

type Seen = Pick<
  Project,
  "phase" | "halt_reason" | "busy" | "waiting" | "open_questions" | "phase_times" | "problem" | "rounds"
> &
  Partial<Pick<Project, "outline" | "label" | "queued" | "queue_place">>;

export function isEnded(project: Pick<Seen, "phase" | "halt_reason">): boolean {
  return project.phase === "done" || (project.phase === "halted" && project.halt_reason === "human_terminated");
}

/** Confirming the intent, and then the specification, begins a new chat. */
export function hasEarlierChats(project: Pick<Seen, "phase" | "halt_reason" | "phase_times">): boolean {
  return phaseIndex(project) > 2;
}

/** The phase that it is in, or was halted in; past the last one when it is done. */
export function phaseIndex(project: Pick<Seen, "phase" | "halt_reason" | "phase_times">): number {
  if (project.phase === "done") return PHASES.length;
  const at = PHASES.findIndex(({ phase }) => phase === project.phase);
  if (at >= 0) return at;
  if (project.halt_reason?.startsWith("guard_")) return PHASES.length - 1;
  return Math.max(0, PHASES.findLastIndex(({ phase }) => (project.phase_times[phase] ?? 0) > 0));
}

export interface Standing {
  meaning: Meaning;
  /** A few words, as in "waits for you: 2 questions". */
  text: string;
  /** Whether a person has to do something. */
  waits: boolean;
}

const you = (what: string): Standing => ({ meaning: "attention", text: `waits for you: ${what}`, waits: true });
const WORK: Record<string, string> = {
  distilling: "distilling…",
  spec_building: "specifying…",
  building: "building…",
  polishing: "polishing…",
};

/** What happens to it now, or what it waits for. */
export function standing(project: Seen): Standing {
  if (project.outline && project.label !== undefined && !project.busy && project.halt_reason !== "human_terminated") {
    return { meaning: "attention", text: project.label, waits: !project.outline.accepted };
  }
  if (project.phase === "done") return { meaning: "good", text: "done", waits: false };
  if (isEnded(project)) return { meaning: "bad", text: "terminated", waits: false };
  if (project.busy) return working(project);
  if (project.problem !== "") return { meaning: "bad", text: "waits for you: its last run failed", waits: true };
  switch (project.phase) {
    case "brain_dump":
      return you("your words, then Distill");
    case "human_review":
      return you("confirm or correct the intent");
    case "spec_building":
      return you(project.open_questions.length > 0 ? plural(project.open_questions.length, "question") : "confirm the specification");
    case "halted":
      return { ...you(project.label === STOPPED ? "stopped by you" : haltWords(project.halt_reason)), meaning: "bad" };
  }
  return project.waiting === "stuck" ? you("1 question") : working(project);
}

function working(project: Seen): Standing {
  if (project.queued === true) {
    const place = project.queue_place == null ? "" : ` · number ${project.queue_place}`;
    return { meaning: "running", text: `in the queue${place}`, waits: false };
  }
  const round = project.phase === "polishing" ? ` round ${project.rounds.length + 1}` : "";
  return { meaning: "running", text: `${(WORK[project.phase] ?? "working…").replace("…", round)}…`, waits: false };
}

/** Which documents a person has confirmed, so that Forge does not change them any more. */
export function isLocked(name: string, project: Pick<Seen, "phase" | "halt_reason" | "phase_times">): boolean {
  const at = phaseIndex(project);
  if (name === "intent.md") return at > 2;
  return (name === "spec.md" || name === "constraints.md") && at > 3;
}
