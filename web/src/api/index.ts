export { answer, answerWithResponse, api, fileAddress, streamed, upload, type Shapes } from "./client";
export { stream, topicOf, useConnection, useTopic, type Event, type EventOf, type EventType, type Heard } from "./events";
export { keptEditsText, onKeptEdits } from "./kept_edits";
export { keys } from "./keys";
export { ApiProblem, isProblem, needsSignIn } from "./problems";
export * from "./queries";
export { newQueryClient } from "./query_client";
export { invalidator } from "./stale";
export type { Connection } from "./stream";
