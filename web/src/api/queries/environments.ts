/** What a branch needs to run. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { answer, api, type Shapes } from "../client";
import { keys } from "../keys";

export type Environment = Shapes["EnvironmentShape"];

const at = (repository: string, branch: string) => ({ params: { path: { repository }, query: { branch } } });

export function useEnvironment(repository: string, branch: string) {
  return useQuery({
    queryKey: keys.environment(repository, branch),
    queryFn: ({ signal }) => answer(api.GET("/api/repositories/{repository}/environment", { ...at(repository, branch), signal })),
    // Another process may set it up, whose events do not come here.
    refetchInterval: (query) => (query.state.data?.state === "setting_up" ? 2_000 : false),
  });
}

export function useEnvironmentLog(repository: string, branch: string, follow: boolean) {
  return useQuery({
    queryKey: [...keys.environment(repository, branch), "log"],
    queryFn: async ({ signal }) =>
      (await answer(api.GET("/api/repositories/{repository}/environment/log", { ...at(repository, branch), signal }))).lines,
    refetchInterval: follow ? 1_000 : false,
  });
}

export type EnvironmentAct = { kind: "approve"; hash: string } | { kind: "setup" } | { kind: "clear" };

export function useEnvironmentAct(repository: string, branch: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (act: EnvironmentAct) => {
      const where = at(repository, branch);
      if (act.kind === "approve") {
        return answer(api.POST("/api/repositories/{repository}/environment/approve", { ...where, body: { hash: act.hash } }));
      }
      return act.kind === "setup"
        ? answer(api.POST("/api/repositories/{repository}/environment/setup", where))
        : answer(api.DELETE("/api/repositories/{repository}/environment", where));
    },
    onSuccess: (environment) => client.setQueryData(keys.environment(repository, branch), environment),
    onSettled: () => client.invalidateQueries({ queryKey: keys.environment(repository, branch) }),
  });
}
