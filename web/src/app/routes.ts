/** All addresses. Their screens are put in by router.tsx, so that screens can read these types. */
import { createRootRoute, createRoute, createRouter, redirect, type RouterHistory } from "@tanstack/react-router";

import { settingsPlace, type BranchSearch, type ProjectTab } from "@/lib/places";

const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
const TABS: readonly string[] = ["chat", "explorer", "documents", "contracts", "polish", "artifacts", "log"] satisfies ProjectTab[];

const BRANCH_TABS = ["chat", "file", "tests", "terminal"] as const;

function branchSearch(search: Record<string, unknown>): BranchSearch {
  const line = Number(search["line"]);
  const tab = BRANCH_TABS.find((each) => each === search["tab"]);
  const found = { file: text(search["file"]), at: text(search["at"]), tab, line: line > 0 ? line : undefined };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

function projectSearch(search: Record<string, unknown>): { tab?: ProjectTab } {
  return TABS.includes(String(search["tab"])) ? { tab: search["tab"] as ProjectTab } : {};
}

export const root = createRootRoute();
const at = <P extends string>(path: P) => ({ getParentRoute: () => root, path });

export const home = createRoute(at("/"));
export const repository = createRoute(at("/r/$repo"));
export const branch = createRoute({ ...at("/r/$repo/b/$branch"), validateSearch: branchSearch });
export const commit = createRoute(at("/r/$repo/c/$commit"));
export const projects = createRoute(at("/projects"));
export const newProject = createRoute(at("/projects/new"));
export const project = createRoute({ ...at("/projects/$id"), validateSearch: projectSearch });
export const board = createRoute(at("/board"));
export const settings = createRoute(at("/settings/$section"));
const anySettings = createRoute({
  ...at("/settings"),
  beforeLoad: () => {
    // The router takes a redirect that is thrown.
    // eslint-disable-next-line @typescript-eslint/only-throw-error
    throw redirect({ ...settingsPlace("models"), replace: true });
  },
});

const routeTree = root.addChildren([home, repository, branch, commit, projects, newProject, project, board, settings, anySettings]);

export function newRouter(history?: RouterHistory) {
  return createRouter({ routeTree, defaultPendingMs: 200, ...(history && { history }) });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof newRouter>;
  }
}
