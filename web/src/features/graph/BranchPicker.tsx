import { Command } from "cmdk";
import { GitBranch } from "lucide-react";

import { useBranches } from "@/api";
import { Dialog, ErrorState, Skeleton } from "@/ui";

import { sourceName, VERB_WORDS, type Source, type Verb } from "./offers";

export interface BranchPickerProps {
  repo: string;
  verb: Verb;
  source: Source;
  onPick: (branch: string) => void;
  onClose: () => void;
}

const ITEM = "flex h-8 cursor-default items-center gap-2 rounded-sm px-2 data-[selected=true]:bg-surface-2";

/** Which branch? Typed letters narrow the list down, Enter takes the marked one. */
export function BranchPicker({ repo, verb, source, onPick, onClose }: BranchPickerProps) {
  const { data, error, refetch } = useBranches(repo);
  const title = `${VERB_WORDS[verb]} ${sourceName(verb, source)} ${verb === "merge" ? "into" : "onto"}`;
  return (
    <Dialog open onClose={onClose} title={`${title} …`} about="Choose the branch. A preview comes first; nothing is changed yet.">
      {error ? (
        <ErrorState compact error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Skeleton />
      ) : (
        <Command label={title} loop>
          <Command.Input
            autoFocus
            placeholder="Name of a branch"
            className="mb-2 h-8 w-full rounded-md border border-line bg-surface-0 px-2"
          />
          <Command.List className="max-h-72 overflow-y-auto">
            <Command.Empty className="px-2 py-3 text-muted">No branch has such a name.</Command.Empty>
            {data
              .filter((branch) => branch.name !== source.rev)
              .map((branch) => (
                <Command.Item key={branch.name} value={branch.name} onSelect={() => onPick(branch.name)} className={ITEM}>
                  {branch.ai ? <span aria-hidden className="w-3.5 text-center text-accent">✦</span> : <GitBranch aria-hidden size={14} />}
                  <span className="min-w-0 flex-1 truncate">{branch.name}</span>
                  <span className="max-w-40 truncate text-xs text-muted">{branch.damage === null ? branch.subject : "damaged"}</span>
                </Command.Item>
              ))}
          </Command.List>
        </Command>
      )}
    </Dialog>
  );
}
