/** What happens, as the server tells it. A test compares the list with the server's own. */

interface Kinds {
  TurnStarted: { turn: string; branch: string; model: string };
  TextStreamed: { turn: string; text: string; answer: number; at: number };
  TextRestarted: { turn: string };
  ModelRetryScheduled: {
    model: string;
    kind: string;
    attempt: number;
    attempts: number | null;
    wait: number | null;
    text: string;
    turn: string;
    project: string;
  };
  ModelAnswered: {
    turn: string;
    text: string;
    calls: string[];
    input_tokens: number;
    output_tokens: number;
    cache_read_tokens: number;
    cost: number | null;
    answer: number;
  };
  ToolStarted: { turn: string; call: string; name: string; about: string };
  ToolEnded: { turn: string; call: string; name: string; failed: boolean; text: string };
  ContextCompacted: { turn: string; before_tokens: number; after_tokens: number };
  TurnCommitted: { turn: string; branch: string; commit: string; files: string[]; text: string };
  TurnStopped: { turn: string; branch: string; reason: string; message: string; commit: string | null };
  TurnSetAside: { turn: string; branch: string; kept_on: string; commit: string };
  QuestionAsked: { question: string; run: string; text: string; options: string[]; expires: number | null; kind: string };
  QuestionClosed: { question: string; run: string; how: string; answer: string | null };
  EnvironmentChanged: { branch: string; state: string; step: number; steps: number; command: string };
  BranchChanged: { branch: string; commit: string | null; actor: string };
  TestsStarted: { run: string; branch: string; pattern: string };
  TestsProgressed: { run: string; text: string };
  TestsEnded: {
    run: string;
    branch: string;
    commit: string | null;
    outcome: string;
    passed: number;
    failed: number;
    skipped: number;
    error: string;
  };
  RepositoryChanged: { repository: string; what: string; name: string };
  ProjectMoved: { project: string; before: string; phase: string; halt_reason: string | null };
  ProjectChanged: { project: string; what: string; name: string };
  ProjectSaid: { project: string; role: string; text: string };
  ProjectProgressed: { project: string; text: string };
  ContractSaved: { project: string; contract: string; version: number; commit: string; origin: string };
  ContractAnswersSaved: { project: string; questions: readonly string[] };
  contract_progress: {
    project: string;
    run: string;
    contract: string;
    number: number;
    total: number;
    state: string;
    about: string;
    input_tokens: number;
    output_tokens: number;
    cost: number | null;
    turns: number;
  };
  ContractAwaited: { project: string; run: string; contract: string; seconds: number };
  NoteSaved: { project: string; user: string; version: number };
  RoundFinished: {
    project: string;
    iteration: number;
    critical: number;
    medium: number;
    minor: number;
    total: number;
    guard: string;
    outcome: string;
  };
}

export type EventType = keyof Kinds;
export type Event = { [T in EventType]: { type: T } & Kinds[T] }[EventType];
export type EventOf<T extends EventType> = Extract<Event, { type: T }>;

/** An event as it was heard. Live ones have no id: they are pieces of what a recorded one tells as a whole. */
export interface Heard {
  topic: string;
  id: number | null;
  time: number;
  event: Event;
}

export const topicOf = {
  branch: (repo: string, branch: string) => `branch:${repo}:${branch}`,
  project: (id: string) => `project:${id}`,
  board: "board",
};
