/** What the explorer knows about a project. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { answer, api, keys, type Shapes } from "@/api";

export type Exploration = Shapes["ExplorationShape"];
export type Assumption = Shapes["AssumptionShape"];
export type ModeName = NonNullable<Exploration["mode"]>;

const key = (project: string) => [...keys.project(project), "explore"];

export function useExploration(project: string) {
  return useQuery({
    queryKey: key(project),
    queryFn: ({ signal }) => answer(api.GET("/api/projects/{project}/explore", { params: { path: { project } }, signal })),
    // The answer is told before its run has ended; that it ended is no event.
    refetchInterval: ({ state }) => (state.data?.run ? 1000 : false),
  });
}

export function useExplorationChange(project: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Shapes["NewExplorationChange"]) =>
      answer(api.POST("/api/projects/{project}/explore/changes", { params: { path: { project } }, body })),
    onSuccess: (changed) => client.setQueryData(key(project), changed.exploration),
  });
}

/** The next distillation takes the exploration in. */
export function useHandOver(project: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => answer(api.POST("/api/projects/{project}/explore/brain-dump", { params: { path: { project } } })),
    onSuccess: (done) => client.setQueryData(key(project), done.exploration),
  });
}

export function useEnterMode(project: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (mode: ModeName) =>
      answer(api.PUT("/api/projects/{project}/explore/mode", { params: { path: { project } }, body: { mode } })),
    onSuccess: (shown) => client.setQueryData(key(project), shown),
  });
}

/** Ends the turn under way; what was said stays. */
export function useStopExploring(project: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => answer(api.POST("/api/projects/{project}/explore/stop", { params: { path: { project } } })),
    onSuccess: (shown) => client.setQueryData(key(project), shown),
  });
}

/** Lets the explorer answer what was said and not answered yet. */
export function useAnswerNow(project: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => answer(api.POST("/api/projects/{project}/explore/turns", { params: { path: { project } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: key(project) }),
  });
}
