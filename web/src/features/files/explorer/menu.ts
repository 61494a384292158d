import { Copy, FileClock, FilePlus, FolderPlus, Pencil, SquareArrowOutUpRight, Trash2 } from "lucide-react";

import { copyText, type MenuEntry } from "@/ui";

import type { Row } from "./tree";

export interface RowActions {
  /** Why files cannot be changed now, if so. */
  refusal: string | undefined;
  onOpen: (row: Row) => void;
  onHistory: (row: Row) => void;
  onNew: (kind: "file" | "folder", folder: string) => void;
  onRename: (row: Row) => void;
  onDelete: (row: Row) => void;
  onContext: (row: Row) => void;
  contextLabel: (row: Row) => string;
}

/** What can be done with a row; without one, with the whole tree. */
export function menuOf(row: Row | undefined, actions: RowActions): MenuEntry[] {
  const disabled = actions.refusal !== undefined;
  const folder = row === undefined ? "" : row.kind === "directory" ? row.path : row.path.slice(0, Math.max(0, row.path.lastIndexOf("/")));
  const making: MenuEntry[] = [
    { label: "New file", icon: FilePlus, disabled, onSelect: () => actions.onNew("file", folder) },
    { label: "New folder", icon: FolderPlus, disabled, onSelect: () => actions.onNew("folder", folder) },
  ];
  if (row === undefined) return making;
  const copying: MenuEntry = { label: "Copy path", icon: Copy, onSelect: () => void copyText(row.path, `Copied ${row.path}`) };
  if (row.kind === "gone") return [{ label: "Show history", icon: FileClock, onSelect: () => actions.onHistory(row) }, copying];
  const marking: MenuEntry = { label: actions.contextLabel(row), keys: "space", disabled, onSelect: () => actions.onContext(row) };
  const changing: MenuEntry[] = [
    { label: "Rename", icon: Pencil, keys: "F2", disabled, onSelect: () => actions.onRename(row) },
    { label: "Delete", icon: Trash2, keys: "Delete", danger: true, disabled, onSelect: () => actions.onDelete(row) },
  ];
  if (row.kind === "directory") return [...making, null, marking, null, ...changing, copying];
  return [
    { label: "Open and keep", icon: SquareArrowOutUpRight, onSelect: () => actions.onOpen(row) },
    { label: "Show history", icon: FileClock, onSelect: () => actions.onHistory(row) },
    marking,
    null,
    ...making,
    null,
    ...changing,
    copying,
  ];
}
