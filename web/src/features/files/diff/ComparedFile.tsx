import { Columns2, Rows2 } from "lucide-react";
import { lazy, Suspense } from "react";
import { useQuery } from "@tanstack/react-query";

import { ApiProblem, keys, readFile, useFile, type FileContent } from "@/api";
import { useStored } from "@/lib/stored";
import { patiently } from "@/lib/patiently";
import { EmptyState, ErrorState, IconButton, Skeleton } from "@/ui";

const CodeDiff = lazy(() => patiently(() => import("./CodeDiff")));

export interface ComparedFileProps {
  repo: string;
  from: string;
  to: string;
  /** Given where `to` is a branch: its newest content is shown, and stays so. */
  branch?: string | undefined;
  path: string;
  /** What the file was called at `from`, where that is another name. */
  oldPath?: string | undefined;
  fromName: string;
  toName: string;
}

/** A file that is not there has no text. */
async function textAt(repo: string, at: string, path: string, signal: AbortSignal): Promise<FileContent> {
  try {
    return await readFile({ repo, branch: "", at }, path, signal);
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return { bytes: new Uint8Array(), text: "", etag: "", commit: undefined };
    throw error;
  }
}

function useTextAt(repo: string, at: string, path: string) {
  return useQuery({
    queryKey: [...keys.history(repo), "text-at", at, path],
    queryFn: ({ signal }) => textAt(repo, at, path, signal),
  });
}

/** One file at two times. */
export function ComparedFile({ repo, from, to, branch, path, oldPath, fromName, toName }: ComparedFileProps) {
  const [layout, setLayout] = useStored<"unified" | "split">("diff-layout", "unified");
  const before = useTextAt(repo, from, oldPath ?? path);
  const after = useFile({ repo, branch: branch ?? "", at: branch === undefined ? to : undefined }, path);
  const gone = after.error instanceof ApiProblem && after.error.status === 404;
  const error = before.error ?? (gone ? null : after.error);
  const newer = gone ? "" : after.data?.text;
  const binary = before.data?.text === null || newer === null;
  return (
    <section aria-label={`${path} compared`} className="flex h-full min-h-0 flex-col">
      <header className="flex h-8 shrink-0 items-center gap-2 border-b border-line px-3 text-xs text-muted">
        <span className="min-w-0 flex-1 truncate">
          <span className="font-mono">{fromName}</span> → <span className="font-mono">{toName}</span>
        </span>
        <IconButton small icon={Rows2} label="One column" pressed={layout === "unified"} onClick={() => setLayout("unified")} />
        <IconButton small icon={Columns2} label="Side by side" pressed={layout === "split"} onClick={() => setLayout("split")} />
      </header>
      <div className="min-h-0 flex-1">
        {error !== null ? (
          <ErrorState error={error} onRetry={() => void before.refetch()} />
        ) : before.data === undefined || newer === undefined ? (
          <Skeleton lines={6} />
        ) : binary ? (
          <EmptyState>The file is not text, so there are no lines to compare.</EmptyState>
        ) : before.data.text === newer ? (
          <EmptyState>The file is the same in both.</EmptyState>
        ) : (
          <Suspense fallback={<Skeleton lines={6} />}>
            <CodeDiff path={path} before={before.data.text ?? ""} after={newer} layout={layout} labels={[fromName, toName]} />
          </Suspense>
        )}
      </div>
    </section>
  );
}
