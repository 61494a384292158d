/** A test run in a word or two. */
import type { TestRun } from "@/api";
import { plural } from "@/lib/format";
import type { Meaning } from "@/ui";

export interface Verdict {
  text: string;
  meaning: Meaning;
}

export function verdictOf(run: Pick<TestRun, "outcome" | "passed" | "failed" | "flaky">): Verdict {
  switch (run.outcome) {
    case "cannot run":
      return { text: "Cannot run", meaning: "attention" };
    case "no tests":
      return { text: "No tests", meaning: "attention" };
    case "failed":
      return { text: run.failed > 0 ? `${run.failed.toLocaleString("en")} failed` : "Failed", meaning: "bad" };
    case "passed":
      if (run.flaky.length > 0) return { text: `Passed, ${run.flaky.length} flaky`, meaning: "attention" };
      return { text: `${plural(run.passed, "test")} passed`, meaning: "good" };
  }
}

/** "3 passed, 1 failed, 2 skipped"; what is none is not told. */
export function countsOf(run: Pick<TestRun, "passed" | "failed" | "skipped" | "flaky">): string {
  const parts: [number, string][] = [
    [run.passed, "passed"],
    [run.failed, "failed"],
    [run.skipped, "skipped"],
    [run.flaky.length, "flaky"],
  ];
  return parts
    .filter(([number]) => number > 0)
    .map(([number, word]) => `${number.toLocaleString("en")} ${word}`)
    .join(", ");
}

/** 0.0123 → "12 ms", 1.5 → "1.5 s"; unknown is nothing. */
export function timeOf(seconds: number | null): string {
  if (seconds === null) return "";
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`;
}
