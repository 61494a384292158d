import { QueryClient } from "@tanstack/react-query";

import { ApiProblem } from "./problems";

/** Answers stay good until an event says otherwise. What was refused is not asked again; what was not reached is. */
export function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 60_000,
        retry: (failures, error) => failures < 3 && (!(error instanceof ApiProblem) || error.status === 0 || error.status >= 500),
        retryDelay: (attempt) => Math.min(1000 * 2 ** attempt, 8000),
      },
    },
  });
}
