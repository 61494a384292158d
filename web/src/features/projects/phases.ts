/** The way of a project in words: its six stages, where it stands, and what it waits for. */
import type { Project } from "@/api";
import { plural } from "@/lib/format";
import type { Meaning } from "@/ui";

export type Stage = "brain_dump" | "distilling" | "human_review" | "spec_building" | "building" | "polishing";

export const STAGES: readonly { stage: Stage; title: string }[] = [
  { stage: "brain_dump", title: "Brain dump" },
  { stage: "distilling", title: "Distill" },
  { stage: "human_review", title: "Review" },
  { stage: "spec_building", title: "Specify" },
  { stage: "building", title: "Build" },
  { stage: "polishing", title: "Polish" },
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
  guard_hallucination: "the errors jumped up after falling",
  guard_fabrication: "the review seems to invent errors",
  guard_max_iterations: "the maximum of rounds is reached",
  human_terminated: "terminated by a person",
  agent_failure: "the agent failed twice",
  file_system_error: "files could not be written",
  phase3_output_missing: "nothing was built",
  phase3_output_incomplete: "what was built is not complete",
  server_restart: "the server was restarted",
};

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
>;

export function isEnded(project: Pick<Seen, "phase" | "halt_reason">): boolean {
  return project.phase === "done" || (project.phase === "halted" && project.halt_reason === "human_terminated");
}

/** The stage that it is in, or was halted in; past the last one when it is done. */
export function stageIndex(project: Pick<Seen, "phase" | "halt_reason" | "phase_times">): number {
  if (project.phase === "done") return STAGES.length;
  const at = STAGES.findIndex(({ stage }) => stage === project.phase);
  if (at >= 0) return at;
  if (project.halt_reason?.startsWith("guard_")) return STAGES.length - 1;
  return Math.max(0, STAGES.findLastIndex(({ stage }) => (project.phase_times[stage] ?? 0) > 0));
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
      return { ...you(haltWords(project.halt_reason)), meaning: "bad" };
  }
  return project.waiting === "stuck" ? you("1 question") : working(project);
}

function working(project: Seen): Standing {
  if ("queued" in project && project.queued === true) return { meaning: "running", text: "waits for a free place", waits: false };
  const round = project.phase === "polishing" ? ` round ${project.rounds.length + 1}` : "";
  return { meaning: "running", text: `${(WORK[project.phase] ?? "at work…").replace("…", round)}…`, waits: false };
}

/** Which documents a person has confirmed, so that Forge does not change them any more. */
export function isLocked(name: string, project: Pick<Seen, "phase" | "halt_reason" | "phase_times">): boolean {
  const at = stageIndex(project);
  if (name === "intent.md") return at > 2;
  return (name === "spec.md" || name === "constraints.md") && at > 3;
}
