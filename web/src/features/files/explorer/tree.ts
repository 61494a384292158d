/** The tree of a branch as the flat list of rows that is on screen: only open folders have rows below them. */
import type { FolderEntry } from "@/api";

/** What the tree needs to know of an entry. */
export type TreeEntry = Pick<FolderEntry, "path" | "name" | "kind">;

export type Kind = FolderEntry["kind"] | "gone" | "waiting" | "naming";

export interface Row {
  path: string;
  name: string;
  kind: Kind;
  depth: number;
  /** Folders only. */
  open: boolean;
  /** Place among its siblings, from one on, and how many these are. */
  position: number;
  siblings: number;
}

export interface TreeParts {
  /** Entries by folder; a folder that is missing is being read. */
  folders: ReadonlyMap<string, readonly TreeEntry[]>;
  open: ReadonlySet<string>;
  /** Deleted paths by folder: they are shown where they were. */
  gone: ReadonlyMap<string, readonly string[]>;
  /** The folder in which a new thing is being named. */
  naming: string | undefined;
}

const COLLATOR = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
/** Comparing as people do takes too long for more; git's own order is good enough there. */
const MOST_COLLATED = 3000;

/** Folders first, then by name. */
export function sorted(entries: readonly TreeEntry[]): TreeEntry[] {
  const isFolder = (entry: TreeEntry) => entry.kind === "directory";
  const groups = [entries.filter(isFolder), entries.filter((entry) => !isFolder(entry))];
  return groups.flatMap((group) => (group.length > MOST_COLLATED ? group : group.sort((a, b) => COLLATOR.compare(a.name, b.name))));
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** Where a path is after the file or folder `from` was moved; undefined where that does not concern it. */
export function movedPath(path: string, from: string, to: string): string | undefined {
  return path === from ? to : path.startsWith(`${from}/`) ? to + path.slice(from.length) : undefined;
}

/** "a/b/c.md" → ["a", "a/b"]. */
export function foldersAbove(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, i) => parts.slice(0, i + 1).join("/"));
}

/** Those of the open folders that are on screen: one inside a closed folder is not. */
export function inOpenOnes(open: ReadonlySet<string>): string[] {
  const known = new Map([["", true]]);
  const isShown = (folder: string): boolean => {
    const before = known.get(folder);
    if (before !== undefined) return before;
    const is = open.has(folder) && isShown(parentOf(folder));
    known.set(folder, is);
    return is;
  };
  return [...open].filter(isShown);
}

const NONE: readonly string[] = [];
const made = new WeakMap<readonly TreeEntry[], readonly Row[]>();

/** Rows are values: those of a folder are made once, however often the tree around it changes. */
function closedRows(entries: readonly TreeEntry[], depth: number, siblings: number): readonly Row[] {
  const known = made.get(entries);
  if (known !== undefined && known[0]?.depth === depth && known[0].siblings === siblings) return known;
  const rows = entries.map(({ path, name, kind }, i): Row => ({ path, name, kind, depth, open: false, position: i + 1, siblings }));
  made.set(entries, rows);
  return rows;
}

/** Makes the rows of a folder before somebody needs those of all folders at once. */
export function prepared(entries: readonly TreeEntry[], depth: number): readonly TreeEntry[] {
  closedRows(entries, depth, entries.length);
  return entries;
}

export function rowsOf(parts: TreeParts): Row[] {
  const rows: Row[] = [];
  addFolder(rows, parts, "", 0);
  return rows;
}

function addFolder(rows: Row[], parts: TreeParts, folder: string, depth: number): void {
  const entries = parts.folders.get(folder);
  const plain = (path: string, name: string, kind: Kind): Row => ({ path, name, kind, depth, open: false, position: 1, siblings: 1 });
  if (parts.naming === folder) rows.push(plain(`${folder}/`, "", "naming"));
  if (entries === undefined) {
    rows.push(plain(`${folder}/…`, "", "waiting"));
    return;
  }
  // The tree and its changes are read one after the other: what is there again is not gone.
  const deleted = parts.gone.get(folder) ?? NONE;
  const gone = deleted.length === 0 ? deleted : deleted.filter((path) => !entries.some((entry) => entry.path === path));
  const siblings = entries.length + gone.length;
  for (const row of closedRows(entries, depth, siblings)) {
    const open = row.kind === "directory" && parts.open.has(row.path);
    rows.push(open ? { ...row, open } : row);
    if (open) addFolder(rows, parts, row.path, depth + 1);
  }
  gone.forEach((path, i) =>
    rows.push({ ...plain(path, nameOf(path), "gone"), position: entries.length + i + 1, siblings }),
  );
}

/** The next row from `from` on whose name begins with what was typed; one letter alone also steps on from the same row. */
export function typedAhead(rows: readonly Row[], from: number, typed: string): number {
  const wanted = typed.toLowerCase();
  const first = wanted.length === 1 ? from + 1 : from;
  for (let i = 0; i < rows.length; i++) {
    const at = (first + i) % rows.length;
    if (rows[at]?.name.toLowerCase().startsWith(wanted) === true) return at;
  }
  return -1;
}
