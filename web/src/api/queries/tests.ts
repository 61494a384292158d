/** Test runs of branches: the command, the last run, the one that is under way. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { answer, api, type Shapes } from "../client";
import { keys } from "../keys";

export type TestRun = Shapes["BranchTestRunShape"];
export type TestCase = Shapes["TestCaseShape"];
export type BranchTests = Shapes["TestsOfBranchShape"];

const at = (repository: string, branch: string) => ({ params: { path: { repository }, query: { branch } } });

export function useTests(repository: string, branch: string) {
  return useQuery({
    queryKey: [...keys.tests(repository, branch), "runs"],
    queryFn: ({ signal }) => answer(api.GET("/api/repositories/{repository}/tests/runs", { ...at(repository, branch), signal })),
  });
}

export function useTestCommand(repository: string, branch: string) {
  return useQuery({
    queryKey: [...keys.tests(repository, branch), "command"],
    queryFn: ({ signal }) => answer(api.GET("/api/repositories/{repository}/tests", { ...at(repository, branch), signal })),
  });
}

export function useSetBranchTestCommand(repository: string, branch: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (command: string) =>
      answer(api.PUT("/api/repositories/{repository}/tests", { params: { path: { repository } }, body: { command } })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.tests(repository, branch) }),
  });
}

export function useRunTests(repository: string, branch: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Shapes["NewTestRun"]) =>
      answer(api.POST("/api/repositories/{repository}/tests/runs", { ...at(repository, branch), body })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.tests(repository, branch) }),
  });
}

export function useCancelTests(repository: string, branch: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => answer(api.POST("/api/repositories/{repository}/tests/cancel", at(repository, branch))),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.tests(repository, branch) }),
  });
}
