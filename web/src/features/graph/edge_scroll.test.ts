import { expect, it } from "vitest";

import { edgeStep } from "./edge_scroll";

it("moves faster the nearer the end, and not at all in the middle", () => {
  expect(edgeStep(300, 100, 700)).toBe(0);
  expect(edgeStep(105, 100, 700)).toBeLessThan(edgeStep(140, 100, 700));
  expect(edgeStep(695, 100, 700)).toBeGreaterThan(edgeStep(660, 100, 700));
  expect(edgeStep(0, 100, 700)).toBe(-edgeStep(900, 100, 700));
});
