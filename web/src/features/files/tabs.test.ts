import { expect, it } from "vitest";

import { nextInFront, opened } from "./tabs";

it("the next preview takes the place of the last, and a kept tab stays", () => {
  const first = opened([{ path: "a", preview: false }], "b", true);
  expect(opened(first, "c", true)).toEqual([{ path: "a", preview: false }, { path: "c", preview: true }]);
  expect(opened(opened(first, "b", false), "c", true).map((tab) => tab.path)).toEqual(["a", "b", "c"]);
});

it("what is kept does not become a preview again", () => {
  const tabs = [{ path: "a", preview: false }];
  expect(opened(tabs, "a", true)).toBe(tabs);
});

it("after closing, the tab behind comes to the front, else the one before", () => {
  const tabs = ["a", "b", "c"].map((path) => ({ path, preview: false }));
  expect(nextInFront(tabs, "b")).toBe("c");
  expect(nextInFront(tabs, "c")).toBe("b");
  expect(nextInFront([{ path: "a", preview: false }], "a")).toBeUndefined();
});
