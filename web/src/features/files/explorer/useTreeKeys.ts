import { useRef, type KeyboardEvent } from "react";

import { parentOf, typedAhead, type Row } from "./tree";

/** Letters typed within this time belong to one word. */
const TOGETHER = 700;
const PAGE = 20;

export interface TreeKeysParts {
  rows: readonly Row[];
  active: number;
  onActive: (index: number) => void;
  onToggle: (folder: string, open?: boolean) => void;
  onOpen: (row: Row) => void;
  onContext: (row: Row) => void;
  onRename: (row: Row) => void;
  onDelete: (row: Row) => void;
}

/** The keys of a tree, as people know them from editors. */
export function useTreeKeys({ rows, active, onActive, onToggle, onOpen, onContext, onRename, onDelete }: TreeKeysParts) {
  const typed = useRef({ text: "", at: 0 });
  const row = rows[active];

  const typeAhead = (key: string): boolean => {
    // Names do not begin with it, and people ask by it what they can press.
    if (key.length !== 1 || key === "?") return false;
    const now = performance.now();
    const text = now - typed.current.at < TOGETHER ? typed.current.text + key : key;
    typed.current = { text, at: now };
    const found = typedAhead(rows, active, text);
    if (found >= 0) onActive(found);
    return true;
  };
  const right = () => {
    if (row?.kind !== "directory") return;
    if (row.open) onActive(active + 1);
    else onToggle(row.path, true);
  };
  const left = () => {
    if (row === undefined) return;
    if (row.open) onToggle(row.path, false);
    else onActive(rows.findIndex((each) => each.path === parentOf(row.path)));
  };
  const keys: Record<string, () => void> = {
    ArrowDown: () => onActive(active + 1),
    ArrowUp: () => onActive(active - 1),
    PageDown: () => onActive(active + PAGE),
    PageUp: () => onActive(active - PAGE),
    Home: () => onActive(0),
    End: () => onActive(rows.length - 1),
    ArrowRight: right,
    ArrowLeft: left,
    Enter: () => row && (row.kind === "directory" ? onToggle(row.path) : onOpen(row)),
    " ": () => row && onContext(row),
    F2: () => row && onRename(row),
    Delete: () => row && onDelete(row),
  };
  return (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const known = keys[event.key];
    if (known) known();
    else if (!typeAhead(event.key)) return;
    event.preventDefault();
  };
}
