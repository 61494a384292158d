import { expect, test } from "vitest";

import document from "../../openapi.json";
import kinds from "./event_kinds.ts?raw";
import { keys } from "./keys";
import { STALE, staleKeys } from "./stale";

const served = document["x-events"] as Record<string, { facts: Record<string, string> }>;

test("the events are those of the server, with the same facts", () => {
  expect(Object.keys(STALE).sort()).toEqual(Object.keys(served).sort());
  for (const [name, { facts }] of Object.entries(served)) {
    const written = new RegExp(`\\n  ${name}: \\{([^}]*)\\}`).exec(kinds)?.[1] ?? "";
    const names = [...written.matchAll(/(\w+): /g)].map((match) => match[1]);
    expect(names.sort(), name).toEqual(Object.keys(facts).sort());
  }
});

test("a change of a branch makes what was read from it stale, with colons in its name", () => {
  const event = { type: "BranchChanged", branch: "ai/x", commit: "c", actor: "you" } as const;
  const found = staleKeys({ topic: "branch:r1:ai/a:b", id: 1, time: 0, event });
  expect(found).toContainEqual(keys.files("r1", "ai/a:b"));
  expect(found).toContainEqual(keys.branches("r1"));
});

test("a repository that is added or forgotten makes the list of repositories stale", () => {
  const event = { type: "RepositoryChanged", repository: "r1", what: "added", name: "garden" } as const;
  expect(staleKeys({ topic: "board", id: 1, time: 0, event })).toEqual([keys.repositories()]);
});

test("an event that this page does not know is passed over", () => {
  expect(staleKeys({ topic: "board", id: 1, time: 0, event: { type: "Later" } as never })).toEqual([]);
});
