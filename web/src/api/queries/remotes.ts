/** Remotes of a repository, and pushes to them. */
import { useMutation, useQuery } from "@tanstack/react-query";

import { answer, api, type Shapes } from "../client";
import { keys } from "../keys";
import { useMoved } from "./repositories";

export function useRemotes(repository: string) {
  return useQuery({
    queryKey: [...keys.history(repository), "remotes"],
    queryFn: ({ signal }) => answer(api.GET("/api/repositories/{repository}/remotes", { params: { path: { repository } }, signal })),
  });
}

export function usePushPreview(repository: string, body: Shapes["PushRequest"], enabled: boolean) {
  return useQuery({
    queryKey: [...keys.history(repository), "push", body],
    enabled,
    queryFn: ({ signal }) =>
      answer(api.POST("/api/repositories/{repository}/pushes/preview", { params: { path: { repository } }, body, signal })),
  });
}

export function usePush(repository: string) {
  const moved = useMoved(repository);
  return useMutation({
    mutationFn: (body: Shapes["PushOrderShape"]) =>
      answer(api.POST("/api/repositories/{repository}/pushes", { params: { path: { repository } }, body })),
    onSuccess: moved,
  });
}
