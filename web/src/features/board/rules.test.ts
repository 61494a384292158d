import { expect, it } from "vitest";

import { moved } from "./focus";
import { span } from "./words";

it("steps over empty columns and stays inside", () => {
  const lists = [["a", "b"], [], ["c"]];
  expect(moved(lists, { column: 0, row: 1 }, "ArrowRight")).toBe("c");
  expect(moved(lists, { column: 2, row: 0 }, "ArrowLeft")).toBe("a");
  expect(moved(lists, { column: 0, row: 0 }, "ArrowUp")).toBeUndefined();
});

it("tells times in two units at most", () => {
  expect(span(7500)).toBe("2 h 5 min");
  expect(span(0.4)).toBe("0 s");
});
