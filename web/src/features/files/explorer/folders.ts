/** The entries of the folders that are open: a few are read one by one, many of them all at once by a worker. */
import { useQueries, useQuery, useQueryClient, type QueryClient, type UseQueryResult } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";

import { ApiProblem, folderQuery, placeKey, type Place } from "@/api";

import { unpacked } from "./packed_folders";
import { foldersAbove, prepared, sorted, type TreeEntry } from "./tree";
import type { TreeTold } from "./tree_worker";

type Entries = readonly TreeEntry[];
export type Folders = ReadonlyMap<string, Entries>;

const NO_ENTRIES: Entries = [];
const NO_FOLDERS: readonly string[] = [];
const MOST_SINGLE = 40;
const NOT_FOUND = 404;

export interface OpenFolders {
  folders: Folders;
  /** Why some of them, or all, could not be read. */
  error: Error | null;
  retry: () => void;
}

function oneQuery(place: Place, folder: string) {
  const plain = folderQuery(place, folder);
  return {
    ...plain,
    queryFn: async (context: { signal: AbortSignal }): Promise<Entries> => {
      try {
        return sorted(await plain.queryFn(context));
      } catch (error) {
        // A folder that is gone has no entries; only the top one has to be there.
        if (folder !== "" && error instanceof ApiProblem && error.status === NOT_FOUND) return NO_ENTRIES;
        throw error;
      }
    },
  };
}

function allQuery(place: Place) {
  return {
    queryKey: [...placeKey(place), "all-folders"],
    queryFn: ({ signal }: { signal: AbortSignal }) => readAll(place, signal),
    // Comparing a hundred thousand files with those before takes longer than drawing them again.
    structuralSharing: false,
    ...(place.at !== undefined && { staleTime: Infinity }),
  };
}

/** All folders with all their files, in bunches that the page hardly feels. */
function readAll(place: Place, signal: AbortSignal): Promise<Folders> {
  const worker = new Worker(new URL("./tree_worker.ts", import.meta.url), { type: "module" });
  const found = new Map<string, Entries>();
  const query = new URLSearchParams(place.at === undefined ? { branch: place.branch } : { at: place.at });
  return new Promise<Folders>((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
    worker.onerror = () => reject(new Error("The files could not be read."));
    worker.onmessage = ({ data }: MessageEvent<TreeTold>) => {
      if (data.kind === "failed") reject(new Error(data.message));
      else if (data.kind === "done") resolve(found);
      else for (const folder of data.folders) found.set(folder.path, prepared(unpacked(folder), foldersAbove(`${folder.path}/`).length));
    };
    worker.postMessage(`/api/repositories/${place.repo}/files?${query.toString()}`);
  }).finally(() => worker.terminate());
}

/** The path of every folder there is. */
export async function readEvery(client: QueryClient, place: Place): Promise<string[]> {
  return [...(await client.query(allQuery(place))).keys()].filter((folder) => folder !== "");
}

function together(results: readonly UseQueryResult<Entries>[]): { entries: (Entries | undefined)[]; error: Error | null } {
  return { entries: results.map(({ data }) => data), error: results.find(({ error }) => error !== null)?.error ?? null };
}

/** `wanted` begins with the top folder; a folder that is missing in the answer is being read. */
export function useFolders(place: Place, wanted: readonly string[]): OpenFolders {
  const client = useQueryClient();
  const top = useQuery(oneQuery(place, ""));
  const isMany = wanted.length > MOST_SINGLE;
  // The list of all files has no other repositories in it.
  const atOnce = isMany && top.data?.some((entry) => entry.name === ".gitmodules") === false;
  const all = useQuery({ ...allQuery(place), enabled: atOnce });
  const single = atOnce || (isMany && top.data === undefined) ? NO_FOLDERS : wanted;
  const singles = useQueries({ queries: single.map((folder) => oneQuery(place, folder)), combine: together });

  const name = JSON.stringify(placeKey(place));
  const folders = useMemo(() => {
    const known = (folder: string, i: number): Entries | undefined => {
      if (!atOnce) return single === wanted ? singles.entries[i] : undefined;
      // What was read one by one is there until all of it is; what all of it lacks is gone.
      return all.data === undefined ? client.getQueryData(oneQuery(place, folder).queryKey) : (all.data.get(folder) ?? NO_ENTRIES);
    };
    return new Map(
      wanted.flatMap((folder, i) => {
        const entries = known(folder, i);
        return entries === undefined ? [] : [[folder, entries] as const];
      }),
    );
    // `name` stands for the place.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [client, name, wanted, single, singles.entries, atOnce, all.data]);

  const branch = `${place.repo} ${place.branch}`;
  const [shown, setShown] = useState({ branch, name, folders });
  const isRead = folders.size === wanted.length;
  // At another commit of the branch, its files stay until all of the new ones are there.
  const isKept = shown.branch === branch && shown.name !== name && !isRead;
  if (!isKept && shown.folders !== folders) setShown({ branch, name, folders });

  const retry = useCallback(() => {
    void client.refetchQueries({ queryKey: JSON.parse(name) as string[], type: "active", predicate: ({ state }) => state.status === "error" });
  }, [client, name]);
  const error = top.error ?? (atOnce ? all.error : singles.error);
  return { folders: isKept && error === null ? shown.folders : folders, error, retry };
}
