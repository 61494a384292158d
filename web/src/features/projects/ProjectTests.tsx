import { useState } from "react";

import { useAcceptTests, useProjectTests, useSetTestCommand, type Project } from "@/api";
import { plural } from "@/lib/format";
import { Badge, Button, CommitId, InlineCode, TextArea, toast } from "@/ui";

import { told } from "./problems";
import type { Round } from "./rounds";
import { outcomeOf } from "./tests";

/** How the tests run, what the last run came to, and what to do where they cannot. */
export function ProjectTests({ project, last }: { project: Project; last: Round | undefined }) {
  const accept = useAcceptTests(project.id);
  const { tests } = project;
  const doubted = tests?.outcome === "passed" && last?.evidence?.passes === false && !last.evidence.unproven;
  return (
    <section aria-label="Tests" className="flex flex-col gap-1.5 rounded-md border border-line bg-surface-1 px-3 py-2">
      <Command project={project.id} />
      {tests !== null && (
        <>
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <Badge meaning={outcomeOf(tests).meaning}>{outcomeOf(tests).text}</Badge>
            {tests.skipped > 0 && <span className="text-xs text-muted">{tests.skipped} skipped</span>}
            <code className="font-mono text-xs break-all text-muted">{tests.command}</code>
            {tests.commit !== null && <CommitId commit={tests.commit} />}
          </div>
          <Names title="New failures" names={tests.new_failures} />
          <Names title="Failed before the work, too" names={tests.known_failures} />
          <Names title="Flaky: failed, then passed when run again" names={tests.flaky} />
          {tests.missing !== "" && <InlineCode text={`Missing: ${tests.missing}. ${tests.supply}`} />}
        </>
      )}
      {doubted && (
        <div className="flex flex-wrap items-center gap-2">
          <span className="text-xs text-attention">{last.evidence?.reason}</span>
          <Button
            small
            busy={accept.isPending}
            onClick={() =>
              accept.mutate(undefined, {
                onSuccess: ({ total }) => toast({ text: `${plural(total, "test is", "tests are")} enough from now on`, meaning: "good" }),
                onError: (error) => toast({ text: told(error), meaning: "bad" }),
              })
            }
          >
            Accept these tests
          </Button>
        </div>
      )}
    </section>
  );
}

function Names({ title, names }: { title: string; names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <p className="text-xs">
      <span className="text-muted">{title}:</span> <span className="font-mono break-all">{names.join(", ")}</span>
    </p>
  );
}

function Command({ project }: { project: string }) {
  const tests = useProjectTests(project).data;
  const set = useSetTestCommand(project);
  const [draft, setDraft] = useState<string>();
  if (tests === undefined) return null;
  const save = () =>
    set.mutate(draft ?? "", {
      onSuccess: () => setDraft(undefined),
      onError: (error) => toast({ text: told(error), meaning: "bad" }),
    });
  return (
    <div className="flex flex-wrap items-center gap-2 text-xs">
      <span className="min-w-0 break-words">
        Runs <InlineCode text={tests.command.text} />
      </span>
      {draft === undefined ? (
        <Button small onClick={() => setDraft(tests.command.set_command)}>
          Set the test command
        </Button>
      ) : (
        <>
          <div className="min-w-0 flex-1">
            <TextArea aria-label="Test command" placeholder="Empty goes by the repository" rows={1} most={2} value={draft} onChange={(event) => setDraft(event.target.value)} />
          </div>
          <Button small kind="primary" busy={set.isPending} onClick={save}>
            Save
          </Button>
        </>
      )}
    </div>
  );
}
