/** Which queries an event makes stale. A new event does not compile until it has a place here. */
import type { QueryClient, QueryKey } from "@tanstack/react-query";

import type { EventOf, EventType, Heard } from "./event_kinds";
import { keys } from "./keys";

interface Place {
  /** Of the topic: the repository and branch, or the project. */
  repo: string;
  branch: string;
}

type Stale = { [T in EventType]: (event: EventOf<T>, place: Place) => QueryKey[] };

const branchMoved = (repo: string, branch: string): QueryKey[] => [
  keys.branches(repo),
  keys.files(repo, branch),
  keys.history(repo),
  keys.session(repo, branch),
  keys.tests(repo, branch),
  keys.environment(repo, branch),
];
const asked = (): QueryKey[] => [keys.questions()];
const inProject = (id: string): QueryKey[] => [keys.project(id)];

export const STALE: Stale = {
  TurnStarted: (_, at) => [keys.branches(at.repo), keys.session(at.repo, at.branch)],
  TextStreamed: () => [],
  TextRestarted: () => [],
  ModelRetryScheduled: (event) => (event.project === "" ? [] : inProject(event.project)),
  ModelAnswered: () => [],
  ToolStarted: () => [],
  ToolEnded: () => [],
  ContextCompacted: (_, at) => [keys.context(at.repo, at.branch)],
  TurnCommitted: (_, at) => branchMoved(at.repo, at.branch),
  TurnStopped: (_, at) => [...branchMoved(at.repo, at.branch), keys.questions()],
  TurnSetAside: (_, at) => branchMoved(at.repo, at.branch),
  QuestionAsked: asked,
  QuestionClosed: asked,
  EnvironmentChanged: (_, at) => [keys.environment(at.repo, at.branch)],
  BranchChanged: (_, at) => branchMoved(at.repo, at.branch),
  TestsStarted: (_, at) => [keys.tests(at.repo, at.branch)],
  TestsProgressed: () => [],
  TestsEnded: (_, at) => [keys.tests(at.repo, at.branch)],
  RepositoryChanged: () => [keys.repositories()],
  ProjectMoved: (event) => [keys.projects(), keys.board(), ...inProject(event.project), keys.questions()],
  ProjectChanged: (event) => [keys.projects(), keys.board(), ...inProject(event.project)],
  ProjectSaid: (event) => [keys.projectMessages(event.project), keys.project(event.project)],
  ProjectProgressed: (event) => [keys.projectLog(event.project)],
  ContractSaved: (event) => [keys.contracts(event.project)],
  ContractAnswersSaved: (event) => [keys.contracts(event.project)],
  contract_progress: (event) => [keys.contractGeneration(event.project)],
  ContractAwaited: () => [],
  NoteSaved: (event) => [[...keys.project(event.project), "note"]],
  RoundFinished: (event) => [keys.board(), ...inProject(event.project)],
};

function placeOf(topic: string): Place {
  const [kind, repo = "", ...branch] = topic.split(":");
  return kind === "branch" ? { repo, branch: branch.join(":") } : { repo: "", branch: "" };
}

export function staleKeys(heard: Heard): QueryKey[] {
  const of = STALE[heard.event.type] as ((event: Heard["event"], place: Place) => QueryKey[]) | undefined;
  return of?.(heard.event, placeOf(heard.topic)) ?? []; // a newer server may tell more than this page knows
}

/** Many events at once, as after a reconnect, make each query stale once. */
export function invalidator(client: QueryClient): (heard: Heard) => void {
  const waiting = new Map<string, QueryKey>();
  return (heard) => {
    const found = staleKeys(heard);
    if (found.length > 0 && waiting.size === 0) {
      setTimeout(() => {
        const now = [...waiting.values()];
        waiting.clear();
        for (const queryKey of now) void client.invalidateQueries({ queryKey });
      }, 30);
    }
    for (const key of found) waiting.set(JSON.stringify(key), key);
  };
}
