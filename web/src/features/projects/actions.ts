/** The buttons of a project: which are there, what they ask first, and why one cannot be pressed now. */
import type { Action, Project } from "@/api";
import { plural } from "@/lib/format";

import { isEnded, phaseName } from "./phases";

type Seen = Pick<Project, "phase" | "halt_reason" | "busy" | "waiting" | "open_questions" | "actions">;

export type Button = Exclude<Action, "correct">;

export const TITLES: Record<Button, string> = {
  distill: "Distill",
  confirm: "Confirm",
  provide_input: "Provide input",
  resume: "Resume",
  override: "Override",
  terminate: "Terminate",
  realign: "Realign from here",
};

export const ABOUT: Record<Button, string> = {
  distill: "Organise what you said into the intent.",
  confirm: "Confirm it and continue with the next phase.",
  provide_input: "Answer what the build is stuck on.",
  resume: "Continue where it stopped.",
  override: "Decide that it is good enough.",
  terminate: "Stop this project for good.",
  realign: "Distill again from your last correction of substance.",
};

/** Those that belong to its state, pressable or not. None after the end. */
export function buttons(project: Seen): Button[] {
  if (isEnded(project)) return [];
  const here = forward(project);
  // Input for a halted project is written where its ways on are explained.
  const written = project.phase === "halted" ? ["correct", "provide_input"] : ["correct"];
  const more = project.actions.filter((action): action is Button => !written.includes(action) && !here.includes(action as Button));
  return [...here, ...more.filter((action) => action !== "terminate"), "terminate"];
}

function forward(project: Seen): Button[] {
  switch (project.phase) {
    case "brain_dump":
    case "distilling":
      return ["distill"];
    case "human_review":
      return ["confirm", "realign"];
    case "spec_building":
      return ["confirm"];
    case "halted":
      return project.waiting === "gate" ? ["override"] : ["resume", "override"];
  }
  return project.waiting === "stuck" ? ["provide_input"] : [];
}

export interface Question {
  title: string;
  about: string;
  action: string;
  danger: boolean;
}

/** What a person is asked before it happens; null where one press is enough. `unsent`: words in the composer. */
export function question(action: Button, project: Pick<Seen, "waiting">, unsent = false): Question | null {
  if (action === "confirm" && unsent) {
    return { title: "Your message is not sent", about: "The text in the composer is not part of what you confirm. Send it first, or confirm without it.", action: "Confirm without it", danger: false };
  }
  if (action === "terminate") {
    return { title: "Terminate the project", about: "Stop this project for good? It cannot be taken up again.", action: "Terminate the project", danger: true };
  }
  if (action !== "override") return null;
  if (project.waiting === "outline") {
    return { title: "Accept the outline", about: "Keep the outline as the result? Its open points stay open.", action: "Accept the outline", danger: false };
  }
  return project.waiting === "gate"
    ? { title: "Build anyway", about: "Build although the plan is not complete?", action: "Proceed with the build", danger: false }
    : { title: "Accept as it is", about: "Take the deliverable as it is now, with everything that is still open in it?", action: "Accept the deliverable", danger: false };
}

/** Why it cannot be pressed; undefined where it can. */
export function refusal(action: Button, project: Seen): string | undefined {
  if (project.actions.includes(action)) return undefined;
  if (project.busy) return `Forge is working (${phaseName(project.phase).toLowerCase()}). Wait until it is done.`;
  const open = project.open_questions.length;
  if (action === "confirm" && open > 0) {
    return `${plural(open, "question is", "questions are")} still open. Answer before confirming.`;
  }
  if (action === "override") return "Only what was being polished can be accepted as it is.";
  return `${TITLES[action]} does nothing in this state: ${phaseName(project.phase).toLowerCase()}.`;
}
