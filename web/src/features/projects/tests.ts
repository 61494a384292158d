/** A run of tests in a word or two. */
import type { Project } from "@/api";
import { plural } from "@/lib/format";
import type { Meaning } from "@/ui";

type Run = NonNullable<Project["tests"]>;

export function outcomeOf(run: Run): { text: string; meaning: Meaning } {
  if (run.outcome === "cannot run") return { text: "cannot run", meaning: "attention" };
  if (run.outcome === "no tests") return { text: "no tests", meaning: "attention" };
  const good = run.outcome === "passed" || (run.failed > 0 && run.new_failures.length === 0 && run.known_failures.length === run.failed);
  return { text: `${run.passed} of ${plural(run.total, "test passes", "tests pass")}`, meaning: good ? "good" : "bad" };
}
