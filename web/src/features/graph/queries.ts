/** What the graph asks for beyond the shared queries. */
import { useQuery } from "@tanstack/react-query";

import { answer, api, keys, type Turn } from "@/api";

/** The turn that made a commit: the newest one of the conversation as it was there. */
export function useTurnAt(repository: string, branch: string | undefined, commit: string, enabled: boolean) {
  return useQuery({
    queryKey: [...keys.commit(repository, commit), "turn", branch ?? ""],
    enabled: enabled && branch !== undefined,
    staleTime: Infinity,
    queryFn: async ({ signal }): Promise<Turn | null> => {
      const query = { branch: branch ?? "", at: commit, limit: 1 };
      const page = await answer(
        api.GET("/api/repositories/{repository}/session/turns", { params: { path: { repository }, query }, signal }),
      );
      return page.items[0] ?? null;
    },
  });
}
