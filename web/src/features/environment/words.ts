import type { Environment } from "@/api";
import type { Meaning } from "@/ui";

type State = Environment["state"];

export const WORDS: Record<State, string> = {
  none: "No environment",
  not_approved: "Environment: approve",
  changed: "Environment changed",
  approved: "Environment: set up",
  setting_up: "Setting up",
  ready: "Environment ready",
  failed: "Setup failed",
};

export const MEANING: Record<State, Meaning> = {
  none: "good",
  not_approved: "attention",
  changed: "attention",
  approved: "attention",
  setting_up: "running",
  ready: "good",
  failed: "bad",
};

export function megabytes(bytes: number): string {
  return `${Math.max(1, Math.round(bytes / 1_048_576))} MB`;
}
