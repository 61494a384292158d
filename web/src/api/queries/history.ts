/** Commits, differences, the graph, merges and operations. */
import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";

import { answer, api, type Shapes } from "../client";
import { keys } from "../keys";
import { useMoved } from "./repositories";

export type Commit = Shapes["CommitShape"];
export type ChangedFile = Shapes["ChangedFileShape"];
export type GraphRow = Shapes["GraphShape"];
export type Merge = Shapes["MergeShape"];
export type Operation = Shapes["OperationShape"];

const PAGE = 200;

export interface CommitsWish {
  rev?: string;
  path?: string;
  follow?: boolean;
  grep?: string;
  author?: string;
}

export function useCommits(repository: string, wish: CommitsWish, limit = PAGE) {
  return useInfiniteQuery({
    queryKey: [...keys.history(repository), "commits", wish, limit],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) =>
      answer(
        api.GET("/api/repositories/{repository}/commits", {
          params: { path: { repository }, query: { ...wish, limit, after: pageParam ?? null } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

export function useCommit(repository: string, commit: string) {
  return useQuery({
    queryKey: keys.commit(repository, commit),
    queryFn: ({ signal }) =>
      answer(api.GET("/api/repositories/{repository}/commits/{commit}", { params: { path: { repository, commit } }, signal })),
  });
}

/** Without `old`: against the commit before. `since_fork`: from where the two parted. */
export interface Range {
  new: string;
  old?: string;
  since_fork?: boolean;
}

export function useDiff(repository: string, range: Range, enabled = true) {
  return useQuery({
    queryKey: [...keys.history(repository), "diff", range],
    enabled,
    queryFn: ({ signal }) =>
      answer(api.GET("/api/repositories/{repository}/diffs", { params: { path: { repository }, query: range }, signal })),
  });
}

export function usePatch(repository: string, range: Range, path: string, enabled = true) {
  return useQuery({
    queryKey: [...keys.history(repository), "patch", range, path],
    enabled,
    queryFn: ({ signal }) =>
      answer(api.GET("/api/repositories/{repository}/patches", { params: { path: { repository }, query: { ...range, path } }, signal })),
  });
}

/** Only kind, target and sources are needed. */
export type MergeWish = Partial<Shapes["MergeOrderShape"]> & Pick<Shapes["MergeOrderShape"], "kind" | "target" | "sources">;

export function usePreview(repository: string, wish: Omit<MergeWish, "seen_target" | "seen_source">, enabled = true) {
  return useQuery({
    queryKey: [...keys.history(repository), "preview", wish],
    enabled,
    queryFn: ({ signal }) =>
      answer(
        api.POST("/api/repositories/{repository}/merges/preview", {
          params: { path: { repository } },
          body: wish as Shapes["MergeRequest"],
          signal,
        }),
      ),
  });
}

export function useMerge(repository: string) {
  const moved = useMoved(repository);
  return useMutation({
    mutationFn: (wish: MergeWish) =>
      answer(
        api.POST("/api/repositories/{repository}/merges", { params: { path: { repository } }, body: wish as Shapes["MergeOrderShape"] }),
      ),
    onSuccess: moved,
  });
}

/** What a copy of a branch would have. The name of the copy does not matter to it. */
export function useExportPreview(repository: string, body: Shapes["ExportRequest"]) {
  return useQuery({
    queryKey: [...keys.history(repository), "export", body],
    queryFn: ({ signal }) =>
      answer(api.POST("/api/repositories/{repository}/exports/preview", { params: { path: { repository } }, body, signal })),
  });
}

export function useExport(repository: string) {
  const moved = useMoved(repository);
  return useMutation({
    mutationFn: (body: Shapes["ExportOrderShape"]) =>
      answer(api.POST("/api/repositories/{repository}/exports", { params: { path: { repository } }, body })),
    onSuccess: moved,
  });
}

export function useIndicators(repository: string, target: string, enabled = true) {
  return useQuery({
    queryKey: [...keys.history(repository), "indicators", target],
    enabled,
    queryFn: async ({ signal }) =>
      (
        await answer(
          api.GET("/api/repositories/{repository}/merges/indicators", {
            params: { path: { repository }, query: { target, limit: 1000 } },
            signal,
          }),
        )
      ).items,
  });
}

export function useOperations(repository: string, limit = 50) {
  return useInfiniteQuery({
    queryKey: [...keys.history(repository), "operations", limit],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) =>
      answer(
        api.GET("/api/repositories/{repository}/operations", {
          params: { path: { repository }, query: { limit, after: pageParam ?? null } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

/** Without an id: the last operation. */
export function useUndo(repository: string) {
  const moved = useMoved(repository);
  return useMutation({
    mutationFn: (operation?: string) =>
      operation === undefined
        ? answer(api.POST("/api/repositories/{repository}/operations/undo", { params: { path: { repository } } }))
        : answer(
            api.POST("/api/repositories/{repository}/operations/{operation}/undo", { params: { path: { repository, operation } } }),
          ),
    onSuccess: moved,
  });
}
