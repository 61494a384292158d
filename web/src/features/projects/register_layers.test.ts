import { expect, test } from "vitest";

import { edges, layout } from "./register_layers";

const REGISTER = [
  { id: "A1", depends_on: [] },
  { id: "A2", depends_on: ["A1"] },
  { id: "A3", depends_on: [] },
  { id: "A4", depends_on: ["A3", "A2"] },
];

test("each assumption is right of all that it rests on, and no two share a spot", () => {
  const { spots } = layout(REGISTER);
  expect(REGISTER.map(({ id }) => spots.get(id)?.layer)).toEqual([0, 1, 0, 2]);
  expect(new Set([...spots.values()].map(({ layer, row }) => `${layer}/${row}`)).size).toBe(spots.size);
});

test("a long line passes beside the assumptions between its ends", () => {
  const { spots, ways } = layout(REGISTER);
  const long = ways.find(({ edge }) => edge.from === "A3")?.way ?? [];
  expect(long.map(({ layer }) => layer)).toEqual([0, 1, 2]);
  expect(long[1]?.row).not.toBe(spots.get("A2")?.row);
});

test("lines run from what is rested on, and unknown ids draw none", () => {
  expect(edges([...REGISTER.slice(0, 2), { id: "A5", depends_on: ["A9"] }])).toEqual([{ from: "A1", to: "A2" }]);
});

test("a circle in a damaged file ends, too", () => {
  const { spots } = layout([{ id: "A1", depends_on: ["A2"] }, { id: "A2", depends_on: ["A1"] }]);
  expect(spots.has("A1") && spots.has("A2")).toBe(true);
});
