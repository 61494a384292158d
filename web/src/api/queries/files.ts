/** Files of a branch, or of a commit (`at`), which never changes. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { answer, answerWithResponse, api, streamed, type Shapes } from "../client";
import { keys } from "../keys";

/** `at` wins where both are given. */
export interface Place {
  repo: string;
  branch: string;
  at?: string | undefined;
}

export type FolderEntry = Shapes["FolderEntryShape"];
export type Entry = Shapes["EntryShape"];

export function placeKey({ repo, branch, at }: Place) {
  return at === undefined ? keys.files(repo, branch) : keys.filesAt(repo, at);
}

function placeQuery({ branch, at }: Place): Record<string, string> {
  return at === undefined ? { branch } : { at };
}

const lasting = (place: Place) => (place.at === undefined ? {} : { staleTime: Infinity });

/** All entries of one folder ("" is the root). */
export function folderQuery(place: Place, path: string) {
  return {
    queryKey: [...placeKey(place), "folder", path],
    queryFn: async ({ signal }: { signal: AbortSignal }) => {
      const found: FolderEntry[] = [];
      const query = new URLSearchParams({ ...placeQuery(place), path });
      await streamed<FolderEntry>(`/api/repositories/${place.repo}/folders?${query.toString()}`, (items) => found.push(...items), signal);
      return found;
    },
    ...lasting(place),
  };
}

/** Every path of the branch, for quick open; a hundred thousand come in a few hundred milliseconds. */
export function usePaths(place: Place, enabled = true) {
  return useQuery({
    queryKey: [...placeKey(place), "paths"],
    enabled,
    queryFn: async ({ signal }) => {
      const found: string[] = [];
      const query = new URLSearchParams(placeQuery(place));
      await streamed<Entry>(`/api/repositories/${place.repo}/files?${query.toString()}`, (items) => { for (const item of items) found.push(item.path); }, signal);
      return found;
    },
    ...lasting(place),
  });
}

export interface FileContent {
  bytes: Uint8Array<ArrayBuffer>;
  /** The text, or null where the bytes are none. */
  text: string | null;
  etag: string;
  /** Of the branch when it was read; the content at this path was the same there. */
  commit: string | undefined;
}

/** With `steady`, the text of the commit before stays until that of another one is there. */
export function useFile(place: Place, path: string, { steady = false }: { steady?: boolean } = {}) {
  return useQuery({
    queryKey: [...placeKey(place), "file", path],
    queryFn: ({ signal }) => readFile(place, path, signal),
    ...lasting(place),
    placeholderData: (before, query) => (steady && query?.queryKey.at(-1) === path ? before : undefined),
  });
}

export async function readFile(place: Place, path: string, signal?: AbortSignal): Promise<FileContent> {
  const { data, response } = await answerWithResponse(
    api.GET("/api/repositories/{repository}/files/{path}", {
      params: { path: { repository: place.repo, path }, query: placeQuery(place) },
      parseAs: "arrayBuffer",
      ...(signal && { signal }),
    }),
  );
  const bytes = new Uint8Array(data);
  return { bytes, text: decoded(bytes), etag: (response.headers.get("ETag") ?? "").replace(/^W\/|"/g, ""), commit: response.headers.get("X-Forge-Commit") ?? undefined };
}

function decoded(bytes: Uint8Array<ArrayBuffer>): string | null {
  if (bytes.subarray(0, 8000).includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null; // not UTF-8: shown as bytes
  }
}

export interface Save {
  path: string;
  content: string | Blob;
  /** Only over what was seen; null: only as a new file; undefined: in any case. */
  etag?: string | null;
  message?: string;
  /** However large it is: the person said so. */
  large?: boolean;
}

export function useSaveFile(repository: string, branch: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ path, content, etag, message, large }: Save) =>
      answer(
        api.PUT("/api/repositories/{repository}/files/{path}", {
          params: {
            path: { repository, path },
            query: { branch, ...(message !== undefined && { message }), ...(large === true && { large }) },
            header: etag === null ? { "If-None-Match": "*" } : etag === undefined ? {} : { "If-Match": `"${etag}"` },
          },
          body: content as string,
          bodySerializer: (body) => body,
          headers: { "Content-Type": "application/octet-stream" },
        }),
      ),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: keys.files(repository, branch) });
      void client.invalidateQueries({ queryKey: keys.branches(repository) });
      void client.invalidateQueries({ queryKey: keys.history(repository) });
    },
  });
}

export function useDeleteFile(repository: string, branch: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ path, etag }: { path: string; etag?: string }) =>
      answer(
        api.DELETE("/api/repositories/{repository}/files/{path}", {
          params: { path: { repository, path }, query: { branch }, header: etag === undefined ? {} : { "If-Match": `"${etag}"` } },
        }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: ["repositories", repository] }),
  });
}

export function useRenameFile(repository: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Shapes["Renamed"]) =>
      answer(api.POST("/api/repositories/{repository}/renames", { params: { path: { repository } }, body })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["repositories", repository] }),
  });
}

export function useDeleteFolder(repository: string, branch: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (path: string) => answer(api.DELETE("/api/repositories/{repository}/folders", { params: { path: { repository }, query: { path, branch } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["repositories", repository] }),
  });
}

export function useRenameFolder(repository: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Shapes["RenamedFolder"]) =>
      answer(api.POST("/api/repositories/{repository}/folder-renames", { params: { path: { repository } }, body })),
    onSuccess: () => client.invalidateQueries({ queryKey: ["repositories", repository] }),
  });
}

export type Found = Shapes["FoundShape"];
/** Only the pattern is needed. */
export type SearchWish = Partial<Shapes["Search"]> & { pattern: string };

export function useSearch(repository: string, wish: SearchWish, enabled = true) {
  return useQuery({
    queryKey: [...keys.files(repository, wish.branch ?? wish.at ?? ""), "search", wish],
    enabled: enabled && wish.pattern !== "",
    queryFn: ({ signal }) =>
      answer(
        api.POST("/api/repositories/{repository}/searches", {
          params: { path: { repository } },
          body: wish as Shapes["Search"],
          signal,
        }),
      ),
    placeholderData: (before) => before,
  });
}
