import { Play, Square } from "lucide-react";
import { useState, type SyntheticEvent } from "react";

import { topicOf, useCancelTests, useRunTests, useTests, useTopic, type TestRun } from "@/api";
import { plural, relativeTime } from "@/lib/format";
import { Badge, Button, Chip, CommitId, EmptyState, ErrorState, InlineCode, Input, ProgressLine, Skeleton, toast } from "@/ui";

import { CaseList } from "./CaseList";
import { TestCommand } from "./TestCommand";
import { countsOf, timeOf, verdictOf } from "./verdict";

export interface TestsPanelProps {
  repo: string;
  branch: string;
}

/** Runs the tests of the branch and shows what became of each. */
export function TestsPanel({ repo, branch }: TestsPanelProps) {
  const { data, error, refetch } = useTests(repo, branch);
  const run = useRunTests(repo, branch);
  const cancel = useCancelTests(repo, branch);
  const [pattern, setPattern] = useState("");
  const [said, setSaid] = useState("");
  useTopic(topicOf.branch(repo, branch), ({ event }) => {
    if (event.type === "TestsProgressed") setSaid(event.text);
    if (event.type === "TestsStarted") setSaid("");
    if (event.type === "TestsEnded" && event.error !== "") toast({ text: event.error, meaning: "bad" });
  });
  if (error !== null && data === undefined) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton />;
  const running = data.running !== null;
  const begin = (event: SyntheticEvent) => {
    event.preventDefault();
    const again = data.last?.current === true && data.last.pattern === pattern.trim();
    run.mutate({ pattern: pattern.trim(), again }, { onError: (problem) => toast({ text: problem.message, meaning: "bad" }) });
  };
  return (
    <section aria-label="Test results" className="flex min-h-full flex-col">
      <form onSubmit={begin} className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-2">
        <div className="min-w-40 flex-1 sm:max-w-80">
          <Input aria-label="Which tests" placeholder="All tests; or a file, or part of a name" value={pattern} maxLength={500} onChange={(event) => setPattern(event.target.value)} />
        </div>
        {running ? (
          <Button icon={Square} busy={cancel.isPending} onClick={() => cancel.mutate()}>
            Stop
          </Button>
        ) : (
          <Button kind="primary" type="submit" icon={Play} busy={run.isPending}>
            Run tests
          </Button>
        )}
        <div className="flex basis-full flex-wrap items-center gap-x-2">
          <TestCommand repo={repo} branch={branch} />
        </div>
      </form>
      {running && <Progress said={said} />}
      {data.last === null ? !running && <Never /> : <Results repo={repo} branch={branch} run={data.last} />}
    </section>
  );
}

function Progress({ said }: { said: string }) {
  return (
    <div role="status" className="border-b border-line">
      <ProgressLine label="Tests are running" />
      <p className="truncate px-3 py-1.5 font-mono text-xs text-muted">{said === "" ? "Starting…" : said}</p>
    </div>
  );
}

function Never() {
  return <EmptyState title="No test run yet">Run tests runs them in the sandbox, on the files of this branch, without a checkout.</EmptyState>;
}

function Results({ repo, branch, run }: { repo: string; branch: string; run: TestRun }) {
  const failed = run.tests.some((each) => each.result === "failed" || each.flaky);
  const [only, setOnly] = useState<boolean>();
  const onlyFailed = failed && (only ?? true);
  const shown = onlyFailed ? run.tests.filter((each) => each.result === "failed" || each.flaky) : run.tests;
  const { text, meaning } = verdictOf(run);
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 px-3 py-2 text-xs text-muted">
        <Badge meaning={meaning}>{text}</Badge>
        <span>{countsOf(run)}</span>
        <span>{timeOf(run.seconds)}</span>
        {run.commit !== null && <CommitId commit={run.commit} />}
        <span>{relativeTime(run.started)}</span>
        {!run.current && <Badge meaning="attention">Files changed since this run</Badge>}
        {run.pattern !== "" && <span>only <code className="font-mono">{run.pattern}</code></span>}
        {failed && (
          <span className="flex gap-1" role="group" aria-label="Which results">
            <Chip pressed={onlyFailed} onClick={() => setOnly(true)}>Failed</Chip>
            <Chip pressed={!onlyFailed} onClick={() => setOnly(false)}>All</Chip>
          </span>
        )}
      </div>
      {run.missing !== "" && (
        <p className="px-3 pb-2 text-sm">
          <InlineCode text={run.outcome === "cannot run" ? `The tests cannot run: ${run.missing}.` : run.missing} />
        </p>
      )}
      <CaseList repo={repo} branch={branch} cases={shown} />
      {run.left_out > 0 && !onlyFailed && <p className="px-3 py-2 text-xs text-muted">{plural(run.left_out, "more test")} not shown.</p>}
      {run.output !== "" && (
        <details className="border-t border-line px-3 py-2" open={run.tests.length === 0 && run.outcome !== "passed"}>
          <summary className="cursor-pointer text-xs text-muted">Output</summary>
          <pre className="mt-2 max-h-100 overflow-auto rounded-md bg-surface-1 p-2 font-mono text-xs whitespace-pre-wrap">{run.output}</pre>
        </details>
      )}
    </>
  );
}
