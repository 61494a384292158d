import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";

import { useCommits, usePatch, type Merge, type Shapes } from "@/api";
import { plural, shortId, shortPath } from "@/lib/format";
import { Badge, ErrorState, Patch, Skeleton } from "@/ui";

import { ChangeLetter } from "./ChangedFiles";
import { lightOf, type Offer } from "./offers";

const MOST = 100;
const OUTCOMES: Record<string, string> = {
  "fast-forward": "No conflicts: the branch moves forward",
  clean: "No conflicts",
  "up to date": "Nothing to do: it is there already",
};
const STEP_WORDS: Record<string, string> = {
  picked: "copied",
  dropped: "left out, nothing new in it",
  stopped: "has conflicts",
  waiting: "after that",
};

/** What would change: commits, files, conflicts. */
export function MergePreview({ repo, offer, view }: { repo: string; offer: Offer; view: Merge }) {
  const light = lightOf(view.outcome);
  return (
    <div className="flex flex-col gap-3">
      <p>
        {light === "none" ? (
          <span className="text-muted">{OUTCOMES[view.outcome]}</span>
        ) : (
          <Badge meaning={light}>{OUTCOMES[view.outcome] ?? `${plural(view.conflicts.length, "file")} in conflict`}</Badge>
        )}
      </p>
      {view.conflicts.length > 0 && (
        <ul aria-label="Files in conflict" className="rounded-md border border-line">
          {view.conflicts.map((conflict) => (
            <li key={conflict.path} className="flex gap-2 px-2 py-1">
              <span className="min-w-0 flex-1 truncate">{shortPath(conflict.path, 60)}</span>
              <span className="text-xs text-attention">{conflict.kind}</span>
            </li>
          ))}
        </ul>
      )}
      {light !== "none" && (
        <>
          {offer.verb === "merge" ? <Incoming repo={repo} source={offer.source.rev} target={offer.onto} /> : <Steps view={view} />}
          <Files repo={repo} offer={offer} view={view} />
        </>
      )}
    </div>
  );
}

function Heading({ children }: { children: string }) {
  return <h3 className="pb-1 text-xs font-semibold text-muted">{children}</h3>;
}

/** The commits of the source that the target does not have. */
function Incoming({ repo, source, target }: { repo: string; source: string; target: string }) {
  const theirs = useCommits(repo, { rev: source }, MOST);
  const ours = useCommits(repo, { rev: target }, 1000);
  const there = ours.data?.pages[0]?.items;
  const known = new Set(there?.map((commit) => commit.id));
  const coming = theirs.data?.pages[0]?.items.filter((commit) => !known.has(commit.id));
  if (coming === undefined || there === undefined) return <Skeleton lines={2} />;
  return (
    <section>
      <Heading>{coming.length === MOST ? `${MOST} or more commits` : plural(coming.length, "commit")}</Heading>
      <ul aria-label="Commits" className="max-h-32 overflow-y-auto rounded-md border border-line">
        {coming.map((commit) => (
          <li key={commit.id} className="flex gap-2 px-2 py-0.5">
            <code className="text-xs leading-5 text-muted">{shortId(commit.id)}</code>
            <span className="truncate">{commit.subject}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Steps({ view }: { view: Merge }) {
  return (
    <section>
      <Heading>{plural(view.steps.length, "commit")}</Heading>
      <ul aria-label="Commits" className="max-h-32 overflow-y-auto rounded-md border border-line">
        {view.steps.map((step) => (
          <li key={step.original} className="flex gap-2 px-2 py-0.5">
            <code className="text-xs leading-5 text-muted">{shortId(step.original)}</code>
            <span className="min-w-0 flex-1 truncate">{step.subject}</span>
            <span className={step.state === "stopped" ? "text-xs text-attention" : "text-xs text-muted"}>
              {STEP_WORDS[step.state] ?? step.state}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Files({ repo, offer, view }: { repo: string; offer: Offer; view: Merge }) {
  const [open, setOpen] = useState<string | null>(null);
  if (view.files.length === 0) return null;
  const canOpen = offer.verb !== "rebase" && view.sources.length === 1;
  return (
    <section>
      <Heading>{`${plural(view.files.length, "file")}${view.truncated ? " and more" : ""} on ${view.target}`}</Heading>
      <ul aria-label="Files that change" className="max-h-80 overflow-y-auto rounded-md border border-line">
        {view.files.map((file) => (
          <li key={file.path}>
            {canOpen ? (
              <button
                type="button"
                aria-expanded={open === file.path}
                onClick={() => setOpen((now) => (now === file.path ? null : file.path))}
                className="focus-inset flex w-full items-center gap-1.5 px-2 py-0.5 text-left hover:bg-surface-1"
              >
                {open === file.path ? <ChevronDown aria-hidden size={14} /> : <ChevronRight aria-hidden size={14} />}
                <FileName file={file} />
              </button>
            ) : (
              <span className="flex items-center gap-1.5 px-2 py-0.5">
                <FileName file={file} />
              </span>
            )}
            {open === file.path && <Lines repo={repo} offer={offer} view={view} path={file.path} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function FileName({ file }: { file: Shapes["MergedFileShape"] }) {
  return (
    <>
      <ChangeLetter kind={file.change} />
      <span title={file.path} className="truncate">
        {shortPath(file.path, 64)}
      </span>
    </>
  );
}

/** What the source changed in a file; where the target changed it too, the result has both. */
function Lines({ repo, offer, view, path }: { repo: string; offer: Offer; view: Merge; path: string }) {
  const source = view.sources[0] ?? offer.source.rev;
  const range = offer.verb === "merge" ? { old: view.target_tip, new: source, since_fork: true } : { new: source };
  const { data, error } = usePatch(repo, range, path);
  if (error) return <ErrorState compact error={error} />;
  return data === undefined ? <Skeleton lines={2} /> : <Patch hunks={data.hunks} label={`Changes of ${path}`} />;
}
