import { expect, it } from "vitest";

import { found } from "./found";

it("finds settings by words of their description, and says where they are", () => {
  const [first] = found("rounds after person", []);
  expect(first).toMatchObject({ title: "Rounds", hash: "polish.max_iterations", section: { id: "limits" } });
});

it("finds sections and prompts", () => {
  expect(found("theme", [])[0]?.section.id).toBe("appearance");
  expect(found("code-rev", [{ name: "code-review" }])).toMatchObject([{ hash: "code-review", section: { id: "prompts" } }]);
  expect(found(" ", [])).toEqual([]);
});
