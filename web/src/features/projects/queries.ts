/** Documents with their versions, and who shares a project. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { answer, api, isProblem, keys, type Shapes } from "@/api";

export type DocumentVersion = Shapes["VersionShape"];

const at = (project: string, name: string, query = {}) => ({ params: { path: { project, name }, query } });

/** The documents that there are, each with its size. */
export function useDocuments(project: string) {
  return useQuery({
    queryKey: [...keys.project(project), "documents"],
    queryFn: async ({ signal }) =>
      (await answer(api.GET("/api/projects/{project}/documents", { params: { path: { project } }, signal }))).files,
  });
}

/** Newest first. */
export function useDocumentVersions(project: string, name: string, enabled: boolean) {
  return useQuery({
    queryKey: [...keys.project(project), "document", name, "versions"],
    enabled,
    queryFn: async ({ signal }) =>
      (await answer(api.GET("/api/projects/{project}/documents/{name}/versions", { ...at(project, name, { limit: 1000 }), signal }))).items,
  });
}

export function useDocumentDiff(project: string, name: string, versions: { old?: string | undefined; new: string } | null) {
  return useQuery({
    queryKey: [...keys.project(project), "document", name, "diff", versions],
    enabled: versions !== null,
    staleTime: Infinity,
    queryFn: ({ signal }) => answer(api.GET("/api/projects/{project}/documents/{name}/diff", { ...at(project, name, versions ?? {}), signal })),
  });
}

type Right = Shapes["Share"]["right"];
const shared = (id: string) => ({ kind: "projects" as const, id });

/** What was granted, by the id of the user; null where this person may not know. */
export function useShares(project: string, enabled: boolean) {
  return useQuery({
    queryKey: [...keys.project(project), "shares"],
    enabled,
    queryFn: async ({ signal }) => {
      try {
        return (await answer(api.GET("/api/{kind}/{id}/shares", { params: { path: shared(project) }, signal }))).shares;
      } catch (error) {
        if (isProblem(error, "scope_missing")) return null;
        throw error;
      }
    },
  });
}

/** No right takes it back. */
export function useShare(project: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ user, right }: { user: string; right: Right | null }) => {
      const path = { ...shared(project), user };
      return right === null
        ? answer(api.DELETE("/api/{kind}/{id}/shares/{user}", { params: { path } }))
        : answer(api.PUT("/api/{kind}/{id}/shares/{user}", { params: { path }, body: { right } }));
    },
    onSuccess: () => client.invalidateQueries({ queryKey: [...keys.project(project), "shares"] }),
  });
}
