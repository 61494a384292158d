import { Link } from "@tanstack/react-router";

import { usePatch, type ChangedFile } from "@/api";
import { commitPlace } from "@/lib/places";
import { ErrorState, Patch, Path, Skeleton } from "@/ui";

export interface TurnDiffProps {
  repo: string;
  commit: string;
  files: ChangedFile[];
  isPending: boolean;
  error: unknown;
}

const MANY = 20;

function FilePatch({ repo, commit, file }: { repo: string; commit: string; file: ChangedFile }) {
  const patch = usePatch(repo, { new: commit }, file.path, file.binary !== true);
  return (
    <div className="overflow-hidden rounded-md border border-line">
      <div className="flex items-center gap-2 bg-surface-1 px-3 py-1 text-xs">
        <span className="min-w-0 flex-1 font-mono">
          <Path path={file.path} most={70} />
        </span>
        <span className="text-muted">{file.kind}</span>
      </div>
      {file.binary === true ? (
        <p className="px-3 py-2 text-xs text-muted">Bytes, not text.</p>
      ) : patch.error ? (
        <ErrorState compact error={patch.error} onRetry={() => void patch.refetch()} />
      ) : patch.data ? (
        <Patch hunks={patch.data.hunks} label={`Changes of ${file.path}`} />
      ) : (
        <Skeleton lines={2} />
      )}
    </div>
  );
}

/** What the turn changed, file by file. */
export function TurnDiff({ repo, commit, files, isPending, error }: TurnDiffProps) {
  if (isPending) return <Skeleton lines={3} />;
  if (error) return <ErrorState compact error={error} />;
  return (
    <div className="mt-2 flex flex-col gap-2">
      {files.slice(0, MANY).map((file) => (
        <FilePatch key={file.path} repo={repo} commit={commit} file={file} />
      ))}
      <Link {...commitPlace(repo, commit)} className="self-start text-xs text-accent underline underline-offset-2">
        {files.length > MANY ? `Open the commit with all ${files.length} files` : "Open the commit"}
      </Link>
    </div>
  );
}
