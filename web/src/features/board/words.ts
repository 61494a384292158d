/** Times and reasons as a card tells them. */
import type { Project, Shapes } from "@/api";

const UNITS: [string, number][] = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
];

/** Two units at most: "2 h 5 min". */
export function span(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const at = UNITS.findIndex(([, size]) => whole >= size);
  const unit = UNITS[at];
  if (unit === undefined) return "0 s";
  const finer = UNITS[at + 1];
  const rest = finer === undefined ? 0 : Math.floor((whole % unit[1]) / finer[1]);
  return `${Math.floor(whole / unit[1])} ${unit[0]}${finer !== undefined && rest > 0 ? ` ${rest} ${finer[0]}` : ""}`;
}

const DECISIONS: Record<string, string> = {
  brain_dump: "your words",
  human_review: "confirm the intent",
  spec_building: "confirm the specification",
  halted: "retry, accept or terminate",
};

/** What a person is needed for; null where nobody is. */
export function waitsFor(
  { row }: Pick<Shapes["CardShape"], "row">,
  project: Pick<Project, "busy" | "problem"> | undefined,
): string | null {
  if (project?.busy === true || row.halt_reason === "human_terminated" || row.outline) return null;
  if (row.waiting !== null && row.waiting !== "") return row.waiting;
  return DECISIONS[row.phase] ?? (project !== undefined && project.problem !== "" ? "its last run failed" : null);
}
