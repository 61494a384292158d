/** The entries of the folders that are open: a few are read one by one, many of them all at once by a worker. */
import { useQuery, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";

import { ApiProblem, folderQuery, placeKey, type Place } from "@/api";

import { unpacked } from "./packed_folders";
import { foldersAbove, prepared, sorted, type TreeEntry } from "./tree";
import type { TreeTold } from "./tree_worker";

type Folders = ReadonlyMap<string, readonly TreeEntry[]>;

const NONE: Folders = new Map();
const MOST_SINGLE = 40;
const AT_ONCE = 6;
const NOT_FOUND = 404;

const keyOf = (place: Place) => [...placeKey(place), "open-folders"];

export interface OpenFolders {
  folders: Folders;
  error: Error | null;
  retry: () => void;
}

async function readFolder(place: Place, folder: string, signal: AbortSignal): Promise<TreeEntry[]> {
  try {
    return sorted(await folderQuery(place, folder).queryFn({ signal }));
  } catch (error) {
    // A folder that is gone has no entries; only the top one has to be there.
    if (folder !== "" && error instanceof ApiProblem && error.status === NOT_FOUND) return [];
    throw error;
  }
}

async function readEach(place: Place, wanted: readonly string[], signal: AbortSignal, found: Map<string, readonly TreeEntry[]>): Promise<void> {
  const left = [...wanted];
  const next = async (): Promise<void> => {
    for (let folder = left.shift(); folder !== undefined; folder = left.shift()) found.set(folder, await readFolder(place, folder, signal));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
}

/** All folders with all their files, in bunches that the page hardly feels. */
function readAll(place: Place, signal?: AbortSignal): Promise<Map<string, readonly TreeEntry[]>> {
  const worker = new Worker(new URL("./tree_worker.ts", import.meta.url), { type: "module" });
  const found = new Map<string, readonly TreeEntry[]>();
  const query = new URLSearchParams(place.at === undefined ? { branch: place.branch } : { at: place.at });
  return new Promise<Map<string, readonly TreeEntry[]>>((resolve, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason as Error));
    worker.onerror = () => reject(new Error("The files could not be read."));
    worker.onmessage = ({ data }: MessageEvent<TreeTold>) => {
      if (data.kind === "failed") reject(new Error(data.message));
      else if (data.kind === "done") resolve(found);
      else for (const folder of data.folders) found.set(folder.path, prepared(unpacked(folder), foldersAbove(`${folder.path}/`).length));
    };
    worker.postMessage(`/api/repositories/${place.repo}/files?${query.toString()}`);
  }).finally(() => worker.terminate());
}

const hasModules = (top: readonly TreeEntry[]) => top.some((entry) => entry.name === ".gitmodules");

/** Every folder there is, with the entries of all of them at hand. */
export async function readEvery(client: QueryClient, place: Place): Promise<string[]> {
  const all = await readAll(place);
  if (!hasModules(all.get("") ?? [])) client.setQueryData<Folders>(keyOf(place), all);
  return [...all.keys()].filter((folder) => folder !== "");
}

async function read(client: QueryClient, place: Place, wanted: readonly string[], signal: AbortSignal): Promise<Folders> {
  const top = await readFolder(place, "", signal);
  const known = client.getQueryData<Folders>(keyOf(place));
  if (known === undefined) client.setQueryData<Folders>(keyOf(place), new Map([["", top]]));
  // The list of all files has no other repositories in it.
  if (wanted.length > MOST_SINGLE && !hasModules(top)) {
    const all = await readAll(place, signal);
    // Those that are gone are known to be empty, or they would be asked for again and again.
    return new Map([...wanted.map((folder) => [folder, []] as const), ...all]);
  }
  const found = new Map<string, readonly TreeEntry[]>([["", top]]);
  await readEach(place, wanted.filter((folder) => folder !== ""), signal, found);
  return found;
}

export function useFolders(place: Place, wanted: readonly string[]): OpenFolders {
  const client = useQueryClient();
  const latest = useRef(wanted);
  const asked = useRef(new Set<string>());
  useEffect(() => {
    latest.current = wanted;
  });
  const query = useQuery({
    queryKey: keyOf(place),
    queryFn: async ({ signal }): Promise<Folders> => {
      const found = await read(client, place, latest.current, signal);
      const before = client.getQueryData<Folders>(keyOf(place)) ?? NONE;
      // What was opened meanwhile was read by itself.
      const since = latest.current.flatMap((folder) => (found.has(folder) || !before.has(folder) ? [] : [[folder, before.get(folder) ?? []] as const]));
      return since.length === 0 ? found : new Map([...found, ...since]);
    },
    structuralSharing: false,
    retry: false,
    ...(place.at !== undefined && { staleTime: Infinity }),
  });
  const { data, refetch, isFetching, error } = query;
  const name = JSON.stringify(keyOf(place));

  useEffect(() => {
    // What failed is tried again when something changes or somebody asks for it, not at once and for ever.
    if (data === undefined || isFetching || error !== null) return;
    const missing = wanted.filter((folder) => !data.has(folder) && !asked.current.has(`${name} ${folder}`));
    if (missing.length > MOST_SINGLE) {
      void refetch();
      return;
    }
    for (const folder of missing) {
      const mark = `${name} ${folder}`;
      asked.current.add(mark);
      void readFolder({ ...place }, folder, new AbortController().signal)
        .then((entries) =>
          client.setQueryData<Folders>(JSON.parse(name) as string[], (now = NONE) => (now.has(folder) ? now : new Map([...now, [folder, entries]]))),
        )
        // It stays as if it were on its way, and is read with the next change.
        .catch(() => undefined)
        .finally(() => asked.current.delete(mark));
    }
    // `name` stands for the place.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [client, data, error, isFetching, wanted, name, refetch]);

  const retry = useCallback(() => void refetch(), [refetch]);
  return { folders: data ?? NONE, error: data === undefined ? query.error : null, retry };
}
