/** Where things are: `<Link {...branchPlace({ repo, branch })}>`, `void navigate(filePlace({ … }))`. */

export interface BranchSearch {
  file?: string | undefined;
  /** A commit: the branch as it was then. */
  at?: string | undefined;
  tab?: "chat" | "file" | "tests" | "terminal" | undefined;
  line?: number | undefined;
}

export type ProjectTab = "chat" | "explorer" | "documents" | "contracts" | "polish" | "artifacts" | "log";

export function repositoryPlace(repo: string) {
  return { to: "/r/$repo", params: { repo } } as const;
}

export function branchPlace({ repo, branch, ...search }: { repo: string; branch: string } & BranchSearch) {
  return { to: "/r/$repo/b/$branch", params: { repo, branch }, search } as const;
}

export function filePlace(place: { repo: string; branch: string; file: string; at?: string | undefined; line?: number | undefined }) {
  return branchPlace({ ...place, tab: "file" });
}

export function commitPlace(repo: string, commit: string) {
  return { to: "/r/$repo/c/$commit", params: { repo, commit } } as const;
}

export function projectPlace(id: string, tab?: ProjectTab) {
  return { to: "/projects/$id", params: { id }, search: tab === undefined ? {} : { tab } } as const;
}

export function settingsPlace(section: string) {
  return { to: "/settings/$section", params: { section } } as const;
}
