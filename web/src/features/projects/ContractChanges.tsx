import { useState } from "react";

import { exactTime } from "@/lib/format";
import { Button, EmptyState, ErrorState, Skeleton, toast } from "@/ui";

import { changedLines } from "./changes";
import { ChangedLines } from "./DocumentChanges";
import { ContractCode } from "./contract_editor";
import { useContractDiff, useContractVersion, useContractVersions, useRestoreContract, type ContractType } from "./contract_queries";
import { TITLES } from "./contract_text";
import { Select } from "./Select";

/** What changed between two versions, and an earlier one restored. */
export function ContractChanges({ project, type }: { project: string; type: ContractType }) {
  const versions = useContractVersions(project, type);
  const restore = useRestoreContract(project, type);
  const [chosen, setChosen] = useState<{ old?: number; new?: number }>({});
  const [reads, setReads] = useState(false);
  const list = versions.data ?? [];
  const newest = list[0]?.number ?? 0;
  const now = chosen.new ?? newest;
  const before = chosen.old ?? now - 1;
  const diff = useContractDiff(project, type, before > 0 && before !== now ? { old: before, new: now } : null);
  if (versions.isError) return <ErrorState error={versions.error} onRetry={() => void versions.refetch()} />;
  if (versions.data === undefined) return <Skeleton lines={6} label="Loading the versions" />;
  if (list.length < 2) return <EmptyState title="One version">It has not changed since it was written.</EmptyState>;
  const options = list.map((each) => ({
    value: String(each.number),
    label: `Version ${each.number} · ${exactTime(each.time)} · ${each.draft ? "draft" : each.origin} · ${each.author}`,
  }));
  const old = list.find(({ number }) => number === before);
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it is scrolled, by keyboard too
    <div tabIndex={0} role="region" aria-label="History" className="focus-inset min-h-0 flex-1 overflow-auto">
      <div className="flex flex-wrap items-end gap-2 border-b border-line px-3 py-2">
        <Select label="From" value={String(before)} options={options} onChange={(value) => setChosen({ ...chosen, old: Number(value) })} />
        <Select label="To" value={String(now)} options={options} onChange={(value) => setChosen({ ...chosen, new: Number(value) })} />
        <Button
          small
          disabled={restore.isPending || old === undefined || old.blob === null || before === newest}
          onClick={() => restore.mutate(before, { onSuccess: (saved) => toast({ text: `Restored as version ${saved.version}` }) })}
        >
          Restore version {before}
        </Button>
        <Button small kind="quiet" aria-pressed={reads} disabled={old === undefined || old.blob === null} onClick={() => setReads(!reads)} className="aria-pressed:bg-surface-2">
          Text of version {before}
        </Button>
      </div>
      {restore.isError && <ErrorState error={restore.error} />}
      {diff.isError && <ErrorState error={diff.error} onRetry={() => void diff.refetch()} />}
      {reads && old !== undefined && old.blob !== null ? (
        <EarlierText project={project} type={type} version={before} />
      ) : diff.data === undefined ? (
        <Skeleton lines={6} label="Loading the changes" />
      ) : (
        <ChangedLines label={`Changes of ${type}`} lines={changedLines(diff.data.diff)} />
      )}
    </div>
  );
}

function EarlierText({ project, type, version }: { project: string; type: ContractType; version: number }) {
  const earlier = useContractVersion(project, type, version);
  if (earlier.isError) return <ErrorState error={earlier.error} onRetry={() => void earlier.refetch()} />;
  if (earlier.data === undefined) return <Skeleton lines={6} label={`Loading version ${version}`} />;
  return (
    <div className="h-[70vh]">
      <ContractCode key={version} type={type} label={`Text of ${TITLES[type].toLowerCase()}, version ${version}`} text={earlier.data.content} />
    </div>
  );
}
