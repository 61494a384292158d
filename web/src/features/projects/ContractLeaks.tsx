import { Link } from "@tanstack/react-router";

import { useRepositories } from "@/api";
import { plural } from "@/lib/format";
import { filePlace } from "@/lib/places";
import { Button, EmptyState, ErrorState, Skeleton } from "@/ui";

import { useContractLeaks, type LeakReport } from "./contract_queries";
import { TITLES } from "./contract_text";

const WHAT = { contract_text: "Text of a contract", contract_name: "Name of a contract", forge_metadata: "Forge metadata" } as const;

/** What of the contracts got into the code that the project builds, by file and line. */
export function ContractLeaks({ project }: { project: string }) {
  const leaks = useContractLeaks(project);
  if (leaks.isError) return <ErrorState error={leaks.error} onRetry={() => void leaks.refetch()} />;
  if (leaks.data === undefined) return <Skeleton lines={6} label="Looking through the files" />;
  const { branch, commit, files, total } = leaks.data;
  const place = branch === null ? `commit ${commit?.slice(0, 7) ?? ""}` : `branch ${branch}`;
  return (
    <section aria-label="Leaks" className="flex min-h-0 min-w-0 flex-1 flex-col">
      <div className="flex min-h-9 shrink-0 items-center gap-2 border-b border-line px-3 py-1">
        <h2 className="min-w-0 flex-1 font-medium">
          {total === 0 ? "No leaks" : plural(total, "leak")} in {plural(files, "file")} of {place}
        </h2>
        <Button small kind="quiet" busy={leaks.isFetching} onClick={() => void leaks.refetch()}>
          Check again
        </Button>
      </div>
      {total === 0 ? <EmptyState title="No leaks">No delivered file quotes a contract, names one or holds metadata of Forge.</EmptyState> : <Found report={leaks.data} />}
    </section>
  );
}

function Found({ report }: { report: LeakReport }) {
  const known = useRepositories().data?.some(({ id }) => id === report.repository) ?? false;
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it is scrolled, by keyboard too
    <div tabIndex={0} role="region" aria-label="Found leaks" className="focus-inset min-h-0 flex-1 overflow-auto">
      <ul className="flex flex-col">
        {report.leaks.map((leak, at) => {
          const name = `${leak.path}:${leak.line}`;
          const place = { repo: report.repository, branch: report.branch ?? "", file: leak.path, line: leak.line };
          return (
            <li key={at} className="flex flex-col gap-0.5 border-b border-line px-3 py-2 text-xs">
              {known && report.branch !== null ? (
                <Link {...filePlace(place)} className="self-start font-mono break-all text-accent underline">
                  {name}
                </Link>
              ) : (
                <span className="font-mono break-all">{name}</span>
              )}
              <span>
                {WHAT[leak.code]}
                {leak.contract !== null && `: ${TITLES[leak.contract].toLowerCase()}`}
              </span>
              <q className="break-words text-muted">{leak.text}</q>
            </li>
          );
        })}
      </ul>
      {report.total > report.leaks.length && <p className="px-3 py-2 text-xs text-muted">The first {report.leaks.length} are shown.</p>}
    </div>
  );
}
