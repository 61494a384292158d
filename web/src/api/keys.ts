/** The names under which answers are kept. A shorter key stands for all that begin with it. */

const repo = (id: string) => ["repositories", id] as const;
const project = (id: string) => ["projects", "one", id] as const;

export const keys = {
  who: () => ["who"] as const,
  health: () => ["health"] as const,
  repositories: () => ["repositories", "list"] as const,
  repository: (id: string) => [...repo(id), "itself"] as const,
  branches: (id: string) => [...repo(id), "branches"] as const,
  /** All that was read from one branch; `at` a commit never goes stale. */
  files: (id: string, branch: string) => [...repo(id), "files", branch] as const,
  filesAt: (id: string, at: string) => [...repo(id), "files-at", at] as const,
  /** Commits, graph, operations, indicators: whatever any move of any branch changes. */
  history: (id: string) => [...repo(id), "history"] as const,
  commit: (id: string, commit: string) => [...repo(id), "commit", commit] as const,
  session: (id: string, branch: string) => [...repo(id), "session", branch] as const,
  turns: (id: string, branch: string) => [...repo(id), "session", branch, "turns"] as const,
  context: (id: string, branch: string) => [...repo(id), "session", branch, "context"] as const,
  tests: (id: string, branch: string) => [...repo(id), "tests", branch] as const,
  environment: (id: string, branch: string) => [...repo(id), "environment", branch] as const,
  tools: (id: string, branch: string) => [...repo(id), "tools", branch] as const,
  projects: () => ["projects", "list"] as const,
  project,
  projectMessages: (id: string) => [...project(id), "messages"] as const,
  earlierMessages: (id: string) => [...project(id), "earlier-messages"] as const,
  projectLog: (id: string) => [...project(id), "log"] as const,
  contracts: (id: string) => [...project(id), "contracts"] as const,
  contractGeneration: (id: string) => [...project(id), "contracts", "generation"] as const,
  board: () => ["board"] as const,
  questions: () => ["questions"] as const,
  models: () => ["models"] as const,
  settings: () => ["settings"] as const,
  prompts: () => ["prompts"] as const,
  memory: (id: string) => ["memory", id] as const,
  users: () => ["users"] as const,
  keys: () => ["keys"] as const,
  audit: () => ["audit"] as const,
};
