/** Folders are read when they are opened; which are open is remembered for each branch. */
import { useQueries, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";

import { folderQuery, type FolderEntry, type Place } from "@/api";
import { useStored } from "@/lib/stored";

import { foldersAbove, movedPath, rowsOf, sorted, type Row } from "./tree";

const NONE: string[] = [];
/** Entries come as a new array only when the folder was read anew, so each is put in order once. */
const ordered = new WeakMap<FolderEntry[], FolderEntry[]>();

function inOrder(entries: FolderEntry[]): FolderEntry[] {
  const known = ordered.get(entries) ?? sorted(entries);
  ordered.set(entries, known);
  return known;
}

export interface Tree {
  rows: Row[];
  error: Error | null;
  retry: () => void;
  toggle: (folder: string, open?: boolean) => void;
  /** Opens all folders above a path. */
  reveal: (path: string) => void;
  closeAll: () => void;
  /** A folder has another path, or none any more. */
  moved: (from: string, to: string | undefined) => void;
}

export function useTree(place: Place, gone: ReadonlyMap<string, readonly string[]>, naming: string | undefined): Tree {
  const client = useQueryClient();
  const [stored, setStored] = useStored(`open-folders:${place.repo}:${place.branch}`, NONE);
  const open = useMemo(() => new Set(stored), [stored]);
  // A folder inside a closed one is not on screen and need not be read.
  const wanted = useMemo(() => ["", ...stored.filter((folder) => foldersAbove(folder).every((each) => open.has(each)))], [stored, open]);
  const found = useQueries({
    queries: wanted.map((folder) => ({ ...folderQuery(place, folder), structuralSharing: false as const, retry: false })),
    combine: useCallback(
      (results: { data: FolderEntry[] | undefined; error: Error | null }[]) => ({
        folders: new Map(
          wanted.flatMap((folder, i) => {
            const result = results[i];
            // A folder that is gone has no entries; only the top one has to be there.
            const entries = result?.data ?? (result?.error && folder !== "" ? [] : undefined);
            return entries === undefined ? [] : [[folder, inOrder(entries)] as const];
          }),
        ),
        error: results[0]?.error ?? null,
      }),
      [wanted],
    ),
  });
  const rows = useMemo(() => rowsOf({ folders: found.folders, open, gone, naming }), [found.folders, open, gone, naming]);
  const toggle = useCallback(
    (folder: string, want?: boolean) =>
      setStored((before) => {
        const is = before.includes(folder);
        if (is === (want ?? !is)) return before;
        return is ? before.filter((each) => each !== folder) : [...before, folder];
      }),
    [setStored],
  );
  const reveal = useCallback(
    (path: string) =>
      setStored((before) => {
        const missing = foldersAbove(path).filter((each) => !before.includes(each));
        return missing.length === 0 ? before : [...before, ...missing];
      }),
    [setStored],
  );
  const moved = (from: string, to: string | undefined) =>
    setStored((before) =>
      before.flatMap((each) => {
        const place = movedPath(each, from, to ?? "");
        return place === undefined ? [each] : to === undefined ? [] : [place];
      }),
    );
  const retry = () => void client.invalidateQueries({ queryKey: folderQuery(place, "").queryKey });
  return { rows, error: found.error, retry, toggle, reveal, closeAll: () => setStored(NONE), moved };
}
