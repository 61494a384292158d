import { useEnvironmentAct, useEnvironmentLog, type Environment } from "@/api";
import { Badge, Button, Dialog, ErrorState, PatchText } from "@/ui";

import { megabytes, MEANING, WORDS } from "./words";

interface Props {
  repo: string;
  branch: string;
  environment: Environment;
  onClose: () => void;
}

/** What the branch needs, the approval of it, and the log of its setup. */
export function EnvironmentDialog({ repo, branch, environment, onClose }: Props) {
  const act = useEnvironmentAct(repo, branch);
  const { state } = environment;
  const asks = state === "not_approved" || state === "changed";
  const acts = asks || state === "ready" || state === "approved" || state === "failed";
  return (
    <Dialog
      open
      size="medium"
      onClose={onClose}
      title="Environment"
      about={asks ? "Read what would run. Approved, it runs in the sandbox and reaches these hosts alone." : `What ${branch} needs to run.`}
      actions={acts ? (
        <>
          {state === "ready" && (
            <Button busy={act.isPending} onClick={() => act.mutate({ kind: "clear" })}>
              Remove layer
            </Button>
          )}
          {(state === "approved" || state === "failed") && (
            <Button kind="primary" busy={act.isPending} onClick={() => act.mutate({ kind: "setup" })}>
              {state === "failed" ? "Retry" : "Set up"}
            </Button>
          )}
          {asks && (
            <Button kind="primary" busy={act.isPending} onClick={() => act.mutate({ kind: "approve", hash: environment.hash })}>
              Approve and set up
            </Button>
          )}
        </>
      ) : undefined}
    >
      <div className="flex flex-col gap-3">
        <p className="flex flex-wrap items-center gap-x-3">
          <Badge meaning={MEANING[state]}>{WORDS[state]}</Badge>
          {environment.layer !== null && (
            <span className="text-xs text-muted">
              {megabytes(environment.layer.size)}, set up in {environment.layer.seconds.toFixed(1)} s
            </span>
          )}
          {environment.approved_by !== "" && <span className="text-xs text-muted">Approved by {environment.approved_by}</span>}
        </p>
        {environment.failure !== null && <Failure failure={environment.failure} />}
        <Proposal environment={environment} />
        {environment.difference !== "" && <PatchText text={environment.difference} label="What changed since it was approved" />}
        {act.error && <ErrorState compact error={act.error} />}
        {(state === "setting_up" || state === "failed" || state === "ready") && <Log repo={repo} branch={branch} follow={state === "setting_up"} />}
      </div>
    </Dialog>
  );
}

function Failure({ failure }: { failure: NonNullable<Environment["failure"]> }) {
  return (
    <div role="alert" className="rounded-md border border-bad px-3 py-2">
      <p>{failure.reason}</p>
      <p className="text-muted">{failure.hint}</p>
    </div>
  );
}

function Proposal({ environment }: { environment: Environment }) {
  const facts: [string, string[]][] = [
    ["Image", environment.image === null ? [] : [`${environment.image.name} (${environment.image.id.slice(0, 12)})`]],
    ["Hosts", environment.hosts],
    ["Services", environment.services],
    ["Variables", Object.entries(environment.variables).map(([name, value]) => `${name}=${value}`)],
    ["Caches", environment.caches],
    ["Refused hosts", environment.layer?.refused ?? environment.failure?.refused ?? []],
    ["Notes", environment.notes],
  ];
  return (
    <>
      {environment.needs.map((need) => (
        <p key={need.manager}>
          <span className="font-medium">{need.manager}</span>{" "}
          <span className="text-muted">
            {[need.runtime, ...need.because].filter(Boolean).join(", ")}
            {need.untried && " (untried)"}
          </span>
        </p>
      ))}
      {environment.commands.length > 0 && (
        <pre aria-label="Commands" className="overflow-x-auto rounded-md bg-surface-1 px-3 py-2 font-mono text-xs whitespace-pre-wrap break-words">
          {environment.commands.map((command) => `$ ${command}`).join("\n")}
        </pre>
      )}
      <dl className="grid grid-cols-[max-content_1fr] gap-x-3 gap-y-1">
        {facts.map(([name, values]) =>
          values.length === 0 ? null : (
            <div key={name} className="contents">
              <dt className="text-muted">{name}</dt>
              <dd className="min-w-0 break-words">{values.join(", ")}</dd>
            </div>
          ),
        )}
      </dl>
    </>
  );
}

function Log({ repo, branch, follow }: { repo: string; branch: string; follow: boolean }) {
  const { data } = useEnvironmentLog(repo, branch, follow);
  if (data === undefined || data.length === 0) return null;
  return (
    <details open={follow}>
      <summary className="cursor-pointer text-muted">Setup log</summary>
      <pre aria-label="Setup log" className="mt-1 max-h-60 overflow-auto rounded-md bg-surface-1 px-3 py-2 font-mono text-xs whitespace-pre-wrap break-words">
        {data.join("\n")}
      </pre>
    </details>
  );
}
