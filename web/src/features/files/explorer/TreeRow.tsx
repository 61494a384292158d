import { ChevronDown, ChevronRight, File, FileSymlink, FolderGit2 } from "lucide-react";
import { memo, type ReactNode } from "react";

import { classNames } from "@/lib/class_names";

import { ContextMark, FolderMark } from "./ContextMark";
import { WORDS, type InContext, type Letter } from "./marks";
import type { Kind, Row } from "./tree";

const LOOK: Record<Letter, string> = { A: "text-good", M: "text-attention", D: "text-bad" };

const Icon = memo(function Icon({ kind, open }: { kind: Kind; open: boolean }) {
  if (kind === "directory") {
    const Chevron = open ? ChevronDown : ChevronRight;
    return <Chevron aria-hidden size={14} className="shrink-0 text-muted" />;
  }
  const Picture = kind === "symlink" ? FileSymlink : kind === "submodule" ? FolderGit2 : File;
  return <Picture aria-hidden size={13} strokeWidth={1.5} className="mx-px shrink-0 text-muted" />;
});

export interface TreeRowProps {
  row: Row;
  id: string;
  top: number;
  active: boolean;
  /** The file in front. */
  current: boolean;
  letter: Letter | undefined;
  changedBelow: boolean;
  unsaved: boolean;
  /** How the agent has it: a file, or how many files below a folder. */
  context: InContext;
  below: number;
  /** Why nothing can be changed now, if so. */
  refusal: string | undefined;
  onContext: (row: Row) => void;
  /** In place of the name, while it is being changed. */
  field: ReactNode;
}

/** One line of the tree; clicks are heard by the tree itself. */
export const TreeRow = memo(function TreeRow({ row, id, top, active, current, letter, changedBelow, unsaved, context, below, refusal, onContext, field }: TreeRowProps) {
  const said = [row.name, letter && WORDS[letter], unsaved && "unsaved"].filter(Boolean).join(", ");
  return (
    <div
      id={id}
      role="treeitem"
      tabIndex={-1}
      aria-label={said}
      aria-level={row.depth + 1}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-selected={current}
      aria-expanded={row.kind === "directory" ? row.open : undefined}
      data-path={row.path}
      style={{ top }}
      className={classNames(
        "absolute inset-x-0 flex h-6 cursor-default items-center gap-1 pr-2 contain-strict select-none",
        current ? "bg-surface-2" : "hover:bg-surface-2/60",
        active && "group-focus-visible:outline-2 group-focus-visible:-outline-offset-2 group-focus-visible:outline-accent",
      )}
    >
      {row.kind === "directory" ? (
        <FolderMark name={row.name} below={below} refusal={refusal} onToggle={() => onContext(row)} />
      ) : row.kind === "file" ? (
        <ContextMark name={row.name} context={context} refusal={refusal} onToggle={() => onContext(row)} />
      ) : (
        <span className="size-6 shrink-0" />
      )}
      <span aria-hidden className="shrink-0" style={{ width: row.depth * 12 }} />
      <Icon kind={row.kind} open={row.open} />
      {field ?? (
        <span
          className={classNames(
            "min-w-0 flex-1 truncate",
            letter && LOOK[letter],
            row.kind === "gone" && "line-through",
            row.name.startsWith(".") && letter === undefined && "text-muted",
          )}
          title={row.name.length > 24 ? row.name : undefined}
        >
          {row.name}
        </span>
      )}
      {unsaved && (
        <span aria-hidden title="Not saved yet">
          ●
        </span>
      )}
      {letter && (
        <span aria-hidden title={`${WORDS[letter]}, compared with the default branch`} className={classNames("w-3 text-center font-mono text-xs", LOOK[letter])}>
          {letter}
        </span>
      )}
      {row.kind === "directory" && changedBelow && (
        <span aria-hidden title="Something below has changed" className="w-3 text-center text-attention">
          ·
        </span>
      )}
    </div>
  );
});
