/** Projects, their chat and files, the board, and memory. */
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { answer, answerWithResponse, api, upload, type Shapes } from "../client";
import { keys } from "../keys";

export type Project = Shapes["ProjectShape"];
export type Action = "distill" | "confirm" | "provide_input" | "resume" | "override" | "terminate" | "correct" | "realign";

const of = (project: string) => ({ params: { path: { project } } });

export function useProjects(archived = false) {
  return useQuery({
    queryKey: [...keys.projects(), archived],
    queryFn: async ({ signal }) =>
      (await answer(api.GET("/api/projects", { params: { query: { archived, limit: 1000 } }, signal }))).items,
  });
}

export function useProject(project: string) {
  return useQuery({
    queryKey: [...keys.project(project), "itself"],
    queryFn: ({ signal }) => answer(api.GET("/api/projects/{project}", { ...of(project), signal })),
  });
}

export function useCreateProject() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Shapes["NewProject"]) => answer(api.POST("/api/projects", { body })),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: keys.projects() });
      void client.invalidateQueries({ queryKey: keys.board() });
    },
  });
}

function useChanged(project: string) {
  const client = useQueryClient();
  return () => {
    void client.invalidateQueries({ queryKey: keys.project(project) });
    void client.invalidateQueries({ queryKey: keys.projects() });
    void client.invalidateQueries({ queryKey: keys.board() });
  };
}

/** Begins the example, which runs to its end by itself. */
export function useRunExample() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => answer(api.POST("/api/projects/example", {})),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.projects() }),
  });
}

export function useChangeProject(project: string) {
  const changed = useChanged(project);
  return useMutation({
    mutationFn: (body: Shapes["ProjectChange"]) => answer(api.PATCH("/api/projects/{project}", { ...of(project), body })),
    onSuccess: changed,
  });
}

/** `confirm` is the project's name, typed by the person. */
export function useDeleteProject(project: string) {
  const changed = useChanged(project);
  return useMutation({
    mutationFn: (confirm: string) =>
      answer(api.DELETE("/api/projects/{project}", { params: { path: { project }, query: { confirm } } })),
    onSuccess: changed,
  });
}

export function useProjectMessages(project: string) {
  return useQuery({
    queryKey: keys.projectMessages(project),
    queryFn: async ({ signal }) =>
      (await answer(api.GET("/api/projects/{project}/messages", { params: { path: { project }, query: { limit: 1000 } }, signal }))).items,
  });
}

/** What was said before the chat was cleared by a confirmation. */
export function useEarlierMessages(project: string, enabled: boolean) {
  return useQuery({
    queryKey: keys.earlierMessages(project),
    enabled,
    queryFn: async ({ signal }) =>
      (await answer(api.GET("/api/projects/{project}/earlier-messages", { params: { path: { project }, query: { limit: 1000 } }, signal }))).items,
  });
}

const once = () => ({ "Idempotency-Key": crypto.randomUUID() });

/** Words, answers to open questions by number, or what the first message is about. */
export type Said = Partial<Shapes["NewMessage"]>;

export function useSayToProject(project: string) {
  const changed = useChanged(project);
  return useMutation({
    mutationFn: (said: Said) =>
      answer(
        api.POST("/api/projects/{project}/messages", {
          params: { path: { project }, header: once() },
          body: { text: "", answers: [], explore: true, ...said },
        }),
      ),
    onSuccess: changed,
  });
}

export function usePress(project: string) {
  const changed = useChanged(project);
  return useMutation({
    mutationFn: ({ action, ...press }: { action: Action } & Partial<Shapes["ActionOptions"]>) =>
      answer(
        api.POST("/api/projects/{project}/actions/{action}", {
          params: { path: { project, action }, header: once() },
          body: { text: "", confirmed: false, delegated: false, ...press },
        }),
      ),
    onSettled: changed,
  });
}

/** It halts and can be resumed. */
export function useStopWork(project: string) {
  const changed = useChanged(project);
  return useMutation({
    mutationFn: () => answer(api.POST("/api/projects/{project}/stop", of(project))),
    onSettled: changed,
  });
}

/** The command that runs the tests, the last run and the run before the work. */
export function useProjectTests(project: string) {
  return useQuery({
    queryKey: [...keys.project(project), "tests"],
    queryFn: ({ signal }) => answer(api.GET("/api/projects/{project}/tests", { ...of(project), signal })),
  });
}

export function useSetTestCommand(project: string) {
  const changed = useChanged(project);
  return useMutation({
    mutationFn: (command: string) => answer(api.PUT("/api/projects/{project}/tests", { ...of(project), body: { command } })),
    onSuccess: changed,
  });
}

export function useAcceptTests(project: string) {
  const changed = useChanged(project);
  return useMutation({
    mutationFn: () => answer(api.POST("/api/projects/{project}/tests/accept", of(project))),
    onSuccess: changed,
  });
}

export function useResources(project: string) {
  return useQuery({
    queryKey: [...keys.project(project), "resources"],
    queryFn: async ({ signal }) => (await answer(api.GET("/api/projects/{project}/resources", { ...of(project), signal }))).files,
  });
}

export function useAddResource(project: string) {
  const changed = useChanged(project);
  return useMutation({
    mutationFn: ({ file, onProgress }: { file: File; onProgress: (share: number) => void }) => {
      const form = new FormData();
      form.set("file", file);
      return upload<Shapes["FileShape"]>(`/api/projects/${project}/resources`, form, onProgress);
    },
    onSuccess: changed,
  });
}

export function useArtifacts(project: string) {
  return useQuery({
    queryKey: [...keys.project(project), "artifacts"],
    queryFn: async ({ signal }) => (await answer(api.GET("/api/projects/{project}/artifacts", { ...of(project), signal }))).files,
  });
}

export function artifactAddress(project: string, name: string): string {
  return `/api/projects/${project}/artifacts/${encodeURIComponent(name)}`;
}

/** Its text. */
export function useDocument(project: string, name: string, enabled = true) {
  return useQuery({
    queryKey: [...keys.project(project), "document", name],
    enabled,
    queryFn: async ({ signal }) =>
      (
        await answerWithResponse(
          api.GET("/api/projects/{project}/documents/{name}", { params: { path: { project, name } }, parseAs: "text", signal }),
        )
      ).data,
  });
}

export function useProjectLog(project: string) {
  return useInfiniteQuery({
    queryKey: keys.projectLog(project),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam }) =>
      answer(
        api.GET("/api/projects/{project}/log", {
          params: { path: { project }, query: { limit: 200, after: pageParam ?? null } },
          signal,
        }),
      ),
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

export function useBoard() {
  return useQuery({ queryKey: keys.board(), queryFn: ({ signal }) => answer(api.GET("/api/board", { signal })) });
}

export function useMemory(project: string) {
  return useQuery({
    queryKey: keys.memory(project),
    queryFn: ({ signal }) => answer(api.GET("/api/memory", { params: { query: { project } }, signal })),
  });
}
