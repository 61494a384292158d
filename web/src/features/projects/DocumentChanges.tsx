import { useState } from "react";

import { exactTime } from "@/lib/format";
import { classNames } from "@/lib/class_names";
import { EmptyState, ErrorState, Skeleton } from "@/ui";

import { changedLines, type ChangedLine } from "./changes";
import { Select } from "./Select";
import { useDocumentDiff, useDocumentVersions, type DocumentVersion } from "./queries";

/** What changed between two versions of a document; first, by its last change. */
export function DocumentChanges({ project, name }: { project: string; name: string }) {
  const versions = useDocumentVersions(project, name, true);
  const [chosen, setChosen] = useState<{ old?: string; new?: string }>({});
  const list = versions.data ?? [];
  const newer = Math.max(0, list.findIndex(({ commit }) => commit === chosen.new));
  const found = list.findIndex(({ commit }) => commit === chosen.old);
  const older = found > newer ? found : newer + 1;
  const [now, before] = [list[newer], list[older]];
  const diff = useDocumentDiff(project, name, now && before ? { old: before.commit, new: now.commit } : null);
  if (versions.isError) return <ErrorState error={versions.error} onRetry={() => void versions.refetch()} />;
  if (versions.data === undefined) return <Skeleton lines={6} label="Loading the versions" />;
  if (now === undefined || list.length < 2) {
    return <EmptyState title="One version">It has not changed since it was written.</EmptyState>;
  }
  return (
    <div className="flex flex-col">
      <div className="flex flex-wrap items-end gap-2 border-b border-line px-3 py-2">
        <Select label="From" value={before?.commit ?? ""} options={list.slice(newer + 1).map(option)} onChange={(old) => setChosen({ ...chosen, old })} />
        <Select label="To" value={now.commit} options={list.slice(0, -1).map(option)} onChange={(next) => setChosen({ ...chosen, new: next })} />
      </div>
      {diff.isError ? (
        <ErrorState error={diff.error} onRetry={() => void diff.refetch()} />
      ) : diff.data === undefined ? (
        <Skeleton lines={6} label="Loading the changes" />
      ) : (
        <ChangedLines label={`Changes of ${name}`} lines={changedLines(diff.data.diff)} />
      )}
    </div>
  );
}

const option = (version: DocumentVersion) => ({
  value: version.commit,
  label: `${exactTime(version.time)} · ${version.subject} · ${version.author}`,
});

const LOOK = {
  added: "bg-[color-mix(in_srgb,var(--good)_12%,transparent)]",
  removed: "bg-[color-mix(in_srgb,var(--bad)_12%,transparent)]",
  same: "",
  gap: "",
};
const SIGN = { added: "+", removed: "−", same: "", gap: "⋯" };

export function ChangedLines({ lines, label }: { lines: readonly ChangedLine[]; label: string }) {
  if (lines.length === 0) return <EmptyState title="No difference">These two versions say the same.</EmptyState>;
  return (
    <section aria-label={label} className="py-1 text-xs">
      {lines.map((line, i) => (
        <div key={i} className={classNames("flex px-2", LOOK[line.kind], line.kind === "same" && "text-muted")}>
          <span className="w-8 shrink-0 pr-2 text-right text-muted select-none">{line.new ?? line.old}</span>
          <span aria-hidden className="w-4 shrink-0 text-center select-none">{SIGN[line.kind]}</span>
          {line.kind === "added" && <ins className="min-w-0 flex-1 break-words whitespace-pre-wrap no-underline">{line.text}</ins>}
          {line.kind === "removed" && <del className="min-w-0 flex-1 break-words whitespace-pre-wrap no-underline">{line.text}</del>}
          {line.kind === "same" && <span className="min-w-0 flex-1 break-words whitespace-pre-wrap">{line.text}</span>}
        </div>
      ))}
    </section>
  );
}
