import { expect, test } from "vitest";

import type { GraphRow } from "@/api";

import { filtered, NO_FILTER, placed } from "./lanes";

function row(id: string, parents: string[], refs: string[] = []): GraphRow {
  return { id, parents, refs, subject: `commit ${id}`, author: "Ada", time: 0, lane: 9, edges: [], abandoned: false, refs_left_out: 0, tips_left_out: 0 };
}

/** main: m ← d ← a; south: m merges s ← a; east: e ← a. */
const ROWS = [
  row("e", ["a"], ["refs/heads/east"]),
  row("m", ["d", "s"], ["refs/heads/main"]),
  row("s", ["a"], ["refs/heads/south"]),
  row("d", ["a"]),
  row("a", []),
];

test("without a filter the rows are the very same", () => {
  expect(filtered(ROWS, NO_FILTER)).toBe(ROWS);
});

test("a branch has what it reaches, in lanes of its own", () => {
  const found = filtered(ROWS, { ...NO_FILTER, branch: "main" });
  expect(found.map((each) => [each.id, each.lane])).toEqual([
    ["m", 0],
    ["s", 1],
    ["d", 0],
    ["a", 0],
  ]);
});

test("a first parent goes on straight, and lines that meet join on the left", () => {
  const [, second, third] = placed(ROWS.slice(1));
  expect(second?.edges).toEqual([
    { from_lane: 0, to_lane: 0, parent: "d" },
    { from_lane: 1, to_lane: 1, parent: "a" },
  ]);
  expect(third?.edges).toEqual([
    { from_lane: 1, to_lane: 0, parent: "a" },
    { from_lane: 0, to_lane: 0, parent: "a" },
  ]);
});

test("words are looked for in subjects, names and ids, without lines between what is found", () => {
  expect(filtered(ROWS, { ...NO_FILTER, text: " COMMIT S " }).map((each) => [each.id, each.edges])).toEqual([["s", []]]);
  expect(filtered(ROWS, { ...NO_FILTER, text: "south" }).map((each) => each.id)).toEqual(["s"]);
  expect(filtered(ROWS, { ...NO_FILTER, author: "Grace" })).toEqual([]);
});
