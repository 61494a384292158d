import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";

import { useDiff, usePatch, type ChangedFile, type Range } from "@/api";
import { plural, shortId } from "@/lib/format";
import { EmptyState, ErrorState, Patch, Path, Skeleton } from "@/ui";

import { ComparedFile } from "./diff/ComparedFile";

export interface DiffViewProps {
  repo: string;
  /** Undefined: the commit before. */
  from?: string | undefined;
  to: string;
  path?: string | undefined;
}

/** More are opened one by one. */
const OPEN_AT_FIRST = 5;

/** What is different between two commits: one file, or all that changed. */
export function DiffView({ repo, from, to, path }: DiffViewProps) {
  const range: Range = from === undefined ? { new: to } : { old: from, new: to };
  const diff = useDiff(repo, range);
  if (diff.error !== null) return <ErrorState error={diff.error} onRetry={() => void diff.refetch()} />;
  if (diff.data === undefined) return <Skeleton lines={5} />;
  const { files, old } = diff.data;
  const one = path === undefined ? undefined : files.find((file) => file.path === path);
  if (path !== undefined && old !== null) {
    const oldPath = one?.old_path ?? undefined;
    return <ComparedFile repo={repo} from={old} to={diff.data.new} path={path} oldPath={oldPath} fromName={shortId(old)} toName={shortId(diff.data.new)} />;
  }
  if (files.length === 0) return <EmptyState>Nothing is different.</EmptyState>;
  return (
    <div className="h-full overflow-auto">
      <p className="px-3 py-2 text-xs text-muted">
        {plural(files.length, "file")} changed{diff.data.truncated ? ", and more than can be shown" : ""}
      </p>
      {files.map((file, i) => (
        <FileSection key={file.path} repo={repo} range={range} file={file} openAtFirst={i < OPEN_AT_FIRST} />
      ))}
    </div>
  );
}

function FileSection({ repo, range, file, openAtFirst }: { repo: string; range: Range; file: ChangedFile; openAtFirst: boolean }) {
  const [open, setOpen] = useState(openAtFirst);
  const patch = usePatch(repo, range, file.path, open && file.binary !== true);
  const Chevron = open ? ChevronDown : ChevronRight;
  return (
    <section aria-label={file.path} className="border-t border-line">
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="focus-inset sticky top-0 flex h-8 w-full items-center gap-1.5 bg-surface-1 px-2 text-left">
        <Chevron aria-hidden size={14} className="shrink-0 text-muted" />
        <span className="min-w-0 flex-1 truncate font-mono text-xs">
          {file.kind === "renamed" && file.old_path !== null ? <>{file.old_path} → </> : null}
          <Path path={file.path} most={80} />
        </span>
        <span className="text-xs text-muted">{file.kind}</span>
        <span className="text-xs text-good">+{file.additions ?? 0}</span>
        <span className="text-xs text-bad">−{file.deletions ?? 0}</span>
      </button>
      {open &&
        (file.binary === true ? (
          <p className="px-3 py-2 text-muted">Not text.</p>
        ) : patch.error !== null ? (
          <ErrorState compact error={patch.error} onRetry={() => void patch.refetch()} />
        ) : patch.data === undefined ? (
          <Skeleton />
        ) : (
          <Patch hunks={patch.data.hunks} label={`Differences of ${file.path}`} />
        ))}
    </section>
  );
}
