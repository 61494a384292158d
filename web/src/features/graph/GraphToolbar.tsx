import { History, ListTree, ListX, PanelLeft, Search, Undo2, X, ZoomIn, ZoomOut } from "lucide-react";
import { memo, type Ref } from "react";

import { IconButton, Input, Menu, type MenuEntry } from "@/ui";

import { isFiltering, NO_FILTER, type Filter } from "./lanes";

export interface GraphToolbarProps {
  filter: Filter;
  onFilter: (filter: Filter) => void;
  branches: readonly string[];
  authors: readonly string[];
  abandoned: boolean;
  onAbandoned: (on: boolean) => void;
  onZoom: (step: number) => void;
  branchesShown: boolean;
  onBranchesShown: (on: boolean) => void;
  operationsShown: boolean;
  onOperationsShown: (on: boolean) => void;
  onUndo: () => void;
  search?: Ref<HTMLInputElement>;
}

const MOST = 100;

function choices(heading: string, all: string, names: readonly string[], now: string, set: (name: string) => void): MenuEntry[] {
  return [
    { heading },
    { label: all, checked: now === "", onSelect: () => set("") },
    ...names.slice(0, MOST).map((name) => ({ label: name, checked: now === name, onSelect: () => set(name) })),
  ];
}

const PICK = "flex h-7 max-w-32 shrink-0 items-center gap-1 rounded-md border border-line px-1.5 text-xs hover:bg-surface-2";

export const GraphToolbar = memo(function GraphToolbar({ search, ...props }: GraphToolbarProps) {
  const { filter, onFilter, onZoom } = props;
  return (
    <div role="toolbar" aria-label="Graph" className="flex min-h-9 shrink-0 flex-wrap items-center gap-1 border-b border-line px-2 py-1">
      <IconButton
        small
        icon={PanelLeft}
        label={props.branchesShown ? "Hide branches" : "Show branches"}
        pressed={props.branchesShown}
        onClick={() => props.onBranchesShown(!props.branchesShown)}
      />
      <div className="relative max-w-72 min-w-24 flex-1">
        <Search aria-hidden size={14} className="absolute top-1.5 left-2 text-muted" />
        <Input
          ref={search}
          type="search"
          aria-label="Filter commits"
          placeholder="Filter commits"
          className="h-7! pl-7"
          value={filter.text}
          onChange={(event) => onFilter({ ...filter, text: event.target.value })}
        />
      </div>
      <Menu entries={choices("Branch", "All branches", props.branches, filter.branch, (branch) => onFilter({ ...filter, branch }))}>
        <button type="button" className={PICK}>
          <span className="truncate">{filter.branch || "All branches"}</span>
        </button>
      </Menu>
      <Menu entries={choices("Author", "All authors", props.authors, filter.author, (author) => onFilter({ ...filter, author }))}>
        <button type="button" className={PICK}>
          <span className="truncate">{filter.author || "All authors"}</span>
        </button>
      </Menu>
      {isFiltering(filter) && <IconButton small icon={X} label="Clear the filter" onClick={() => onFilter(NO_FILTER)} />}
      <span className="min-w-0 flex-1" />
      <IconButton
        small
        icon={props.abandoned ? ListTree : ListX}
        label={props.abandoned ? "Hide abandoned commits" : "Show abandoned commits"}
        pressed={props.abandoned}
        onClick={() => props.onAbandoned(!props.abandoned)}
      />
      <IconButton small icon={ZoomOut} label="Zoom out" keys="-" onClick={() => onZoom(-1)} />
      <IconButton small icon={ZoomIn} label="Zoom in" keys="=" onClick={() => onZoom(1)} />
      <IconButton small icon={Undo2} label="Undo the last operation" onClick={props.onUndo} />
      <IconButton
        small
        icon={History}
        label="Operations"
        pressed={props.operationsShown}
        onClick={() => props.onOperationsShown(!props.operationsShown)}
      />
    </div>
  );
});
