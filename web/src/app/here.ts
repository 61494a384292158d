/** What the address is about, for the parts of the shell that surround the screens. */
import { useRouterState } from "@tanstack/react-router";

export interface Here {
  repo: string | undefined;
  branch: string | undefined;
  project: string | undefined;
  at: string | undefined;
}

export function useHere(): Here {
  return useRouterState({
    structuralSharing: true,
    select: (state) => {
      const last = state.matches.at(-1);
      const params = (last?.params ?? {}) as Record<string, string | undefined>;
      const search = (last?.search ?? {}) as Record<string, unknown>;
      const at = typeof search["at"] === "string" ? search["at"] : undefined;
      return { repo: params["repo"], branch: params["branch"], project: params["id"], at };
    },
  });
}
