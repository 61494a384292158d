import { expect, it } from "vitest";

import type { ChangedFile } from "@/api";

import { changesOf, contextOf, explained, inContext } from "./marks";

const changed = (kind: string, path: string, old_path: string | null = null) => ({ kind, path, old_path }) as ChangedFile;

it("gives each changed file a letter; a renamed one is new here and gone there", () => {
  const { letters, folders, gone } = changesOf([changed("modified", "a/b/c.py"), changed("renamed", "new.md", "old/old.md")]);
  expect([...letters]).toEqual([["a/b/c.py", "M"], ["old/old.md", "D"], ["new.md", "A"]]);
  expect([...folders]).toEqual(["a", "a/b", "old"]);
  expect(gone.get("old")).toEqual(["old/old.md"]);
});

it("says how much of a file the agent has, how many are below a folder, and what that costs", () => {
  const marks = contextOf({
    files: [
      { path: "a/x.md", ranges: [[3, 9]], state: "partly", tokens: 1200, why: "active" },
      { path: "a/y.md", ranges: [], state: "fully", tokens: 10, why: "instructions" },
    ],
    total_tokens: 5300,
    window: 200_000,
    model: "m",
  });
  expect(inContext(marks, "z").state).toBe("not");
  expect(marks.below.get("a")).toBe(2);
  expect(marks.total).toBe(5300);
  expect(explained(inContext(marks, "a/x.md"))).toBe("Partly in the agent's context: lines 3–9 (1.2k tokens). Click to add the whole file.");
  expect(explained(inContext(marks, "a/y.md"))).toBe("The agent always reads this file (10 tokens).");
});
