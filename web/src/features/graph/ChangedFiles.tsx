import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";

import { usePatch, type ChangedFile } from "@/api";
import { shortPath } from "@/lib/format";
import { Button, ErrorState, Patch, Skeleton } from "@/ui";

const LETTERS: Record<string, { letter: string; color: string }> = {
  added: { letter: "A", color: "text-good" },
  modified: { letter: "M", color: "text-attention" },
  deleted: { letter: "D", color: "text-bad" },
  renamed: { letter: "R", color: "text-accent" },
};

export function ChangeLetter({ kind }: { kind: string }) {
  const { letter, color } = LETTERS[kind] ?? { letter: "M", color: "text-attention" };
  return (
    <span title={kind} className={`w-3 shrink-0 text-center font-mono text-xs font-semibold ${color}`}>
      {letter}
    </span>
  );
}

export function Counts({ file }: { file: Pick<ChangedFile, "additions" | "deletions" | "binary"> }) {
  if (file.binary) return <span className="shrink-0 text-xs text-muted">binary</span>;
  return (
    <span className="shrink-0 text-xs">
      <span className="text-good">+{file.additions ?? 0}</span> <span className="text-bad">−{file.deletions ?? 0}</span>
    </span>
  );
}

function FilePatch({ repo, commit, path }: { repo: string; commit: string; path: string }) {
  const { data, error, refetch } = usePatch(repo, { new: commit }, path);
  if (error) return <ErrorState compact error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton lines={2} />;
  if (data.hunks.length === 0) return <p className="px-3 py-2 text-muted">No lines to compare.</p>;
  return (
    <>
      <Patch hunks={data.hunks} label={`Changes of ${path}`} />
      {data.truncated && <p className="px-3 py-1 text-xs text-muted">The difference is longer than what is shown.</p>}
    </>
  );
}

export interface ChangedFilesProps {
  repo: string;
  commit: string;
  files: readonly ChangedFile[];
  truncated: boolean;
}

const FIRST = 100;

/** The files that a commit changed; each opens to its lines. */
export function ChangedFiles({ repo, commit, files, truncated }: ChangedFilesProps) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [most, setMost] = useState(FIRST);
  const flip = (path: string) =>
    setOpen((before) => {
      const next = new Set(before);
      if (!next.delete(path)) next.add(path);
      return next;
    });
  return (
    <ul aria-label="Changed files" className="flex flex-col">
      {files.slice(0, most).map((file) => {
        const shown = open.has(file.path);
        const Arrow = shown ? ChevronDown : ChevronRight;
        return (
          <li key={file.path} className="border-b border-line">
            <button
              type="button"
              aria-expanded={shown}
              onClick={() => flip(file.path)}
              className="focus-inset flex h-7 w-full items-center gap-1.5 px-2 text-left hover:bg-surface-1"
            >
              <Arrow aria-hidden size={14} className="shrink-0 text-muted" />
              <ChangeLetter kind={file.kind} />
              <span title={file.path} className="min-w-0 flex-1 truncate">
                {file.kind === "renamed" && file.old_path !== null ? `${shortPath(file.old_path, 28)} → ` : ""}
                {shortPath(file.path, 52)}
              </span>
              <Counts file={file} />
            </button>
            {shown && <FilePatch repo={repo} commit={commit} path={file.path} />}
          </li>
        );
      })}
      {files.length > most && (
        <li className="p-2">
          <Button small onClick={() => setMost((now) => now + FIRST * 4)}>{`Show more of ${files.length} files`}</Button>
        </li>
      )}
      {truncated && <li className="px-2 py-1 text-xs text-muted">More files changed than are listed here.</li>}
    </ul>
  );
}
