/** Looking after Forge: who is signed in, settings, prompts, models, costs, keys and users. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { answer, api, type Shapes } from "../client";
import { keys } from "../keys";

export type Setting = Shapes["SettingShape"];
export type Prompt = Shapes["PromptShape"];

export function useWho() {
  return useQuery({ queryKey: keys.who(), queryFn: ({ signal }) => answer(api.GET("/api/sign-in", { signal })) });
}

/** Whether whoever is signed in may manage the server; undefined until it is known. */
export function useIsAdmin(): boolean | undefined {
  return useWho().data?.scopes.includes("admin");
}

export function useSignIn() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (token: string) => answer(api.POST("/api/sign-in", { body: { token } })),
    onSuccess: () => client.resetQueries(),
  });
}

export function useSignOut() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => answer(api.DELETE("/api/sign-in")),
    onSuccess: () => client.resetQueries(),
  });
}

export function useHealth() {
  return useQuery({ queryKey: keys.health(), queryFn: ({ signal }) => answer(api.GET("/api/health", { signal })) });
}

/** All, or those of a section ("limits"). Only who may administer sees them; for others nothing is asked. */
export function useSettings(name?: string) {
  const enabled = useIsAdmin() === true;
  return useQuery({
    queryKey: [...keys.settings(), name ?? null],
    enabled,
    queryFn: async ({ signal }) =>
      (await answer(api.GET("/api/settings", { params: { query: name === undefined ? {} : { name } }, signal }))).settings,
  });
}

export function useChangeSetting() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, value }: { name: string; value: unknown }) =>
      answer(api.PUT("/api/settings/{name}", { params: { path: { name } }, body: { value } })),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: keys.settings() });
      void client.invalidateQueries({ queryKey: keys.models() });
    },
  });
}

export function usePrompts() {
  return useQuery({
    queryKey: keys.prompts(),
    queryFn: async ({ signal }) => (await answer(api.GET("/api/prompts", { signal }))).prompts,
  });
}

export function usePrompt(name: string) {
  return useQuery({
    queryKey: [...keys.prompts(), name],
    queryFn: ({ signal }) => answer(api.GET("/api/prompts/{name}", { params: { path: { name } }, signal })),
  });
}

export function usePromptDiff(name: string, enabled = true) {
  return useQuery({
    queryKey: [...keys.prompts(), name, "diff"],
    enabled,
    queryFn: async ({ signal }) => (await answer(api.GET("/api/prompts/{name}/diff", { params: { path: { name } }, signal }))).diff,
  });
}

/** Null resets it to the one that Forge brings. */
export function useSavePrompt(name: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (text: string | null) =>
      text === null
        ? answer(api.POST("/api/prompts/{name}/reset", { params: { path: { name } } }))
        : answer(api.PUT("/api/prompts/{name}", { params: { path: { name } }, body: { text } })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.prompts() }),
  });
}

export function useModels() {
  return useQuery({ queryKey: keys.models(), queryFn: ({ signal }) => answer(api.GET("/api/models", { signal })) });
}

export function useTestNotifications() {
  return useMutation({ mutationFn: async () => (await answer(api.POST("/api/notifications/test"))).channels });
}

export function useUsers() {
  return useQuery({ queryKey: keys.users(), queryFn: async ({ signal }) => (await answer(api.GET("/api/users", { signal }))).users });
}

export function useAddUser() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => answer(api.POST("/api/users", { body: { name } })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.users() }),
  });
}

export function useDisableUser() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (user: string) => answer(api.POST("/api/users/{user}/disable", { params: { path: { user } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.users() }),
  });
}

export function useKeys() {
  return useQuery({ queryKey: keys.keys(), queryFn: async ({ signal }) => (await answer(api.GET("/api/keys", { signal }))).keys });
}

/** Its `text` is shown once and kept nowhere. */
export function useCreateKey() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Shapes["NewKeyOrder"]) => answer(api.POST("/api/keys", { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.keys() }),
  });
}

export function useRevokeKey() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (key: string) => answer(api.POST("/api/keys/{key}/revoke", { params: { path: { key } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.keys() }),
  });
}

export function useAudit() {
  return useQuery({
    queryKey: keys.audit(),
    queryFn: async ({ signal }) => (await answer(api.GET("/api/audit", { params: { query: { limit: 200 } }, signal }))).items,
  });
}
