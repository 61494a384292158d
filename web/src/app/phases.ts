/** How a project's phase is told in one word. */
import type { Project } from "@/api";
import type { Meaning } from "@/ui";

export function phaseMark(
  project: Pick<Project, "phase" | "busy" | "waiting" | "halt_reason" | "open_questions"> & { outline?: Project["outline"] },
): {
  meaning: Meaning | null;
  word: string;
} {
  const word = project.phase.replaceAll("_", " ");
  if (project.outline && project.halt_reason !== "human_terminated") return { meaning: "attention", word: "outline" };
  if (project.halt_reason !== null || project.phase === "halted") return { meaning: "bad", word: "halted" };
  if (project.busy) return { meaning: "running", word };
  if (project.waiting !== null && project.open_questions.length > 0) return { meaning: "attention", word: "asks you" };
  if (project.phase === "done") return { meaning: "good", word };
  return { meaning: null, word };
}
