/** Folders are read when they are opened; which are open is remembered for each branch. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useDeferredValue, useMemo } from "react";

import type { Place } from "@/api";
import { useStored } from "@/lib/stored";

import { readEvery, useFolders } from "./folders";
import { foldersAbove, inOpenOnes, movedPath, rowsOf, type Row } from "./tree";

const NONE: string[] = [];

export interface Tree {
  rows: Row[];
  /** Why something of it could not be read; `isThere` tells whether there is anything to show all the same. */
  error: Error | null;
  isThere: boolean;
  retry: () => void;
  toggle: (folder: string, open?: boolean) => void;
  /** Opens all folders above a path. */
  reveal: (path: string) => void;
  closeAll: () => void;
  openAll: () => Promise<void>;
  /** A folder has another path, or none any more. */
  moved: (from: string, to: string | undefined) => void;
}

export function useTree(place: Place, gone: ReadonlyMap<string, readonly string[]>, naming: string | undefined): Tree {
  const client = useQueryClient();
  const [stored, setStored] = useStored(`open-folders:${place.repo}:${place.branch}`, NONE);
  // With all folders open there are many rows to make: not while a click is being answered.
  const drawn = useDeferredValue(stored);
  const open = useMemo(() => new Set(drawn), [drawn]);
  const wanted = useMemo(() => ["", ...inOpenOnes(open)], [open]);
  const found = useFolders(place, wanted);
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
  const openAll = async () => {
    setStored(await readEvery(client, place));
  };
  return { rows, error: found.error, isThere: found.folders.has(""), retry: found.retry, toggle, reveal, closeAll: () => setStored(NONE), openAll, moved };
}
