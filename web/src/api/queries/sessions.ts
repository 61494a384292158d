/** Conversations on branches, their context, tools and questions. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { answer, api, type Shapes } from "../client";
import { keys } from "../keys";
import { useMoved } from "./repositories";

export type Session = Shapes["SessionShape"];
export type Turn = Shapes["TurnShape"];
export type Question = Shapes["QuestionShape"];

const at = (repository: string, branch: string) => ({ params: { path: { repository }, query: { branch } } });

export function useSessions(repository: string) {
  return useQuery({
    queryKey: [...keys.branches(repository), "sessions"],
    queryFn: async ({ signal }) =>
      (await answer(api.GET("/api/repositories/{repository}/sessions", { params: { path: { repository } }, signal }))).sessions,
  });
}

export function useSession(repository: string, branch: string, commit?: string, enabled = true) {
  return useQuery({
    queryKey: [...keys.session(repository, branch), "itself", commit ?? null],
    enabled,
    queryFn: ({ signal }) =>
      answer(
        api.GET("/api/repositories/{repository}/session", {
          params: { path: { repository }, query: { branch, ...(commit !== undefined && { at: commit }) } },
          signal,
        }),
      ),
  });
}

export function useCancelTurn(repository: string, branch: string) {
  return useMutation({
    mutationFn: () => answer(api.POST("/api/repositories/{repository}/session/cancel", at(repository, branch))),
  });
}

export function useForkSession(repository: string, branch: string) {
  const moved = useMoved(repository);
  return useMutation({
    mutationFn: (body: Shapes["Fork"]) =>
      answer(api.POST("/api/repositories/{repository}/session/fork", { ...at(repository, branch), body })),
    onSuccess: moved,
  });
}

export function useRewindSession(repository: string, branch: string) {
  const moved = useMoved(repository);
  return useMutation({
    mutationFn: (turn: string) =>
      answer(api.POST("/api/repositories/{repository}/session/rewind", { ...at(repository, branch), body: { turn } })),
    onSuccess: moved,
  });
}

export function useContextFiles(repository: string, branch: string, enabled = true) {
  return useQuery({
    queryKey: keys.context(repository, branch),
    enabled,
    queryFn: ({ signal }) => answer(api.GET("/api/repositories/{repository}/session/context", { ...at(repository, branch), signal })),
  });
}

export function useChangeContext(repository: string, branch: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: { add?: { path: string; ranges?: [number, number][] }[]; remove?: string[] }) =>
      answer(
        api.PATCH("/api/repositories/{repository}/session/context", {
          ...at(repository, branch),
          body: change,
        }),
      ),
    onSuccess: (context) => {
      client.setQueryData(keys.context(repository, branch), context);
      void client.invalidateQueries({ queryKey: keys.branches(repository) });
      void client.invalidateQueries({ queryKey: keys.history(repository) });
    },
  });
}

export function useTools(repository: string, branch: string, enabled = true) {
  return useQuery({
    queryKey: keys.tools(repository, branch),
    enabled,
    queryFn: ({ signal }) => answer(api.GET("/api/repositories/{repository}/tools", { ...at(repository, branch), signal })),
  });
}

export function useToolChange(repository: string, branch: string) {
  const client = useQueryClient();
  return useMutation({
    /** `hash` is of the tool as it was shown: another one is refused. */
    mutationFn: ({ name, approve, hash }: { name: string; approve: boolean; hash?: string }) => {
      const where = { params: { path: { repository, name }, query: { branch } } };
      const seen = { params: { path: { repository, name }, query: { branch, hash } } };
      return approve
        ? answer(api.POST("/api/repositories/{repository}/tools/{name}/approve", seen))
        : answer(api.POST("/api/repositories/{repository}/tools/{name}/revoke", where));
    },
    onSettled: () => client.invalidateQueries({ queryKey: keys.tools(repository, branch) }),
  });
}

/** Open ones, of everything this person may see. */
export function useQuestions() {
  return useQuery({
    queryKey: keys.questions(),
    queryFn: async ({ signal }) => (await answer(api.GET("/api/questions", { signal }))).questions,
    refetchInterval: 30_000,
  });
}

export function useAnswerQuestion() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ question, text }: { question: string; text: string }) =>
      answer(api.POST("/api/questions/{question}/answer", { params: { path: { question } }, body: { text } })),
    onSettled: () => client.invalidateQueries({ queryKey: keys.questions() }),
  });
}
