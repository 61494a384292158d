/** Repositories and their branches. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { answer, api, type Shapes } from "../client";
import { keys } from "../keys";

export type Repository = Shapes["RepositoryShape"];
export type Branch = Shapes["BranchShape"];

const repositoriesQuery = {
  queryKey: keys.repositories(),
  queryFn: ({ signal }: { signal: AbortSignal }) => answer(api.GET("/api/repositories", { signal })),
};

export function useRepositories() {
  return useQuery({ ...repositoriesQuery, select: (data) => data.repositories });
}

/** Used on the command line, and not managed yet. */
export function useOfferedRepositories() {
  return useQuery({ ...repositoriesQuery, select: (data) => data.offered });
}

export function useRepository(repository: string) {
  return useQuery({
    queryKey: keys.repository(repository),
    queryFn: ({ signal }) => answer(api.GET("/api/repositories/{repository}", { params: { path: { repository } }, signal })),
  });
}

export function useAddRepository() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (path: string) => answer(api.POST("/api/repositories", { body: { path } })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.repositories() }),
  });
}

/** All branches, a thousand a page; events of open branches and a slow clock keep them fresh. */
export function useBranches(repository: string | undefined) {
  return useInfiniteQuery({
    queryKey: keys.branches(repository ?? ""),
    enabled: repository !== undefined,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) =>
      answer(
        api.GET("/api/repositories/{repository}/branches", {
          params: { path: { repository: repository ?? "" }, query: { limit: 1000, after: pageParam ?? null } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next ?? undefined,
    select: (data) => data.pages.flatMap((page) => page.items),
    refetchInterval: 30_000,
  });
}

export function useBranch(repository: string, branch: string) {
  return useQuery({
    queryKey: [...keys.branches(repository), branch],
    queryFn: ({ signal }) =>
      answer(api.GET("/api/repositories/{repository}/branches/{branch}", { params: { path: { repository, branch } }, signal })),
  });
}

/** After any move of refs: branches, history, and what was read from them. */
export function useMoved(repository: string) {
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: ["repositories", repository] });
}

export function useCreateBranch(repository: string) {
  const moved = useMoved(repository);
  return useMutation({
    mutationFn: (body: Shapes["NewBranch"]) =>
      answer(api.POST("/api/repositories/{repository}/branches", { params: { path: { repository } }, body })),
    onSuccess: moved,
  });
}

export function useChangeBranch(repository: string) {
  const moved = useMoved(repository);
  return useMutation({
    mutationFn: ({ branch, ...body }: { branch: string } & Shapes["BranchChange"]) =>
      answer(api.PATCH("/api/repositories/{repository}/branches/{branch}", { params: { path: { repository, branch } }, body })),
    onSuccess: moved,
  });
}

export function useDeleteBranch(repository: string) {
  const moved = useMoved(repository);
  return useMutation({
    mutationFn: (branch: string) =>
      answer(api.DELETE("/api/repositories/{repository}/branches/{branch}", { params: { path: { repository, branch } } })),
    onSuccess: moved,
  });
}

/** Tips that no branch reaches any more. */
export function useAbandonedTips(repository: string) {
  return useQuery({
    queryKey: [...keys.history(repository), "abandoned"],
    queryFn: async ({ signal }) => {
      const params = { path: { repository }, query: { abandoned: true } };
      return (await answer(api.GET("/api/repositories/{repository}/kept-branches", { params, signal }))).kept;
    },
  });
}
