import { expect, test } from "vitest";

import { refusal } from "./layers.js";

const why = (from, to) => refusal(from.split("/"), to.split("/"));

test("imports run downwards", () => {
  expect(why("features/chat/Panel.tsx", "ui/Button")).toBeNull();
  expect(why("app/router.tsx", "features/chat")).toBeNull();
  expect(why("api/client.ts", "lib/format")).toBeNull();
  expect(why("ui/Button.tsx", "api/client")).toMatch(/may not/);
  expect(why("lib/format.ts", "ui/Button")).toMatch(/may not/);
  expect(why("features/chat/Panel.tsx", "app/router")).toMatch(/may not/);
});

test("a feature is reached through its index, and never from another feature", () => {
  expect(why("features/chat/parts/Row.tsx", "features/chat/Panel")).toBeNull();
  expect(why("features/chat/Panel.tsx", "features/board")).toMatch(/each other/);
  expect(why("app/router.tsx", "features/chat/Panel")).toMatch(/index/);
});

test("only tests use what is made for tests", () => {
  expect(why("features/chat/Panel.test.tsx", "testing/render")).toBeNull();
  expect(why("features/chat/Panel.tsx", "testing/render")).toMatch(/Only tests/);
});
