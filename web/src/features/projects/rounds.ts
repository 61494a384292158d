/** Rounds of polishing as values: the API gives them as they are in the project's own file. */
import type { Project } from "@/api";

export const SEVERITIES = ["critical", "medium", "minor"] as const;
export type Severity = (typeof SEVERITIES)[number];

export interface Issue {
  severity: string;
  description: string;
  location: string;
  recommendation: string;
}

export interface Round extends Record<Severity, number> {
  iteration: number;
  total: number;
  guard: string;
  outcome: string;
  reason: string;
  tests: { total: number; passed: number; failed: number } | null;
  evidence: { passes: boolean; reason: string; unproven: boolean } | null;
  issues: Issue[];
  mended: string;
  timestamp: string;
}

type Fields = Record<string, unknown>;
const fields = (value: unknown): Fields | null => (typeof value === "object" && value !== null ? (value as Fields) : null);
const number = (value: unknown) => (typeof value === "number" ? value : 0);
const text = (value: unknown) => (typeof value === "string" ? value : "");

export function roundsOf(project: Pick<Project, "rounds">): Round[] {
  return project.rounds.map((entry) => round(entry));
}

function round(entry: Fields): Round {
  const [tests, evidence] = [fields(entry["tests"]), fields(entry["evidence"])];
  const issues = Array.isArray(entry["issues"]) ? (entry["issues"] as unknown[]) : [];
  return {
    iteration: number(entry["iteration"]),
    critical: number(entry["critical"]),
    medium: number(entry["medium"]),
    minor: number(entry["minor"]),
    total: number(entry["total"]),
    guard: text(entry["guard"]),
    outcome: text(entry["outcome"]),
    reason: text(entry["reason"]),
    tests: tests && { total: number(tests["total"]), passed: number(tests["passed"]), failed: number(tests["failed"]) },
    evidence: evidence && { passes: evidence["passes"] === true, reason: text(evidence["reason"]), unproven: evidence["unproven"] === true },
    issues: issues.map((each) => issue(fields(each) ?? {})),
    mended: text(entry["mended"]),
    timestamp: text(entry["timestamp"]),
  };
}

function issue(entry: Fields): Issue {
  return {
    severity: text(entry["severity"]),
    description: text(entry["description"]),
    location: text(entry["location"]),
    recommendation: text(entry["recommendation"]),
  };
}

/** What the guards said: "continues", or "termination: done". */
export function verdict(round: Pick<Round, "guard" | "outcome">): string {
  return round.outcome === "continue" ? "continues" : `${round.guard}: ${round.outcome}`;
}
