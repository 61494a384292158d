import { expect, test } from "vitest";

import type { ContractCard } from "./contract_queries";
import { readable, stateOf } from "./contract_text";

test("a state is told by a word", () => {
  const card = { state: "findings", findings: 2 } as ContractCard;
  expect(stateOf(card)).toEqual({ meaning: "bad", word: "2 findings" });
  expect(stateOf({ ...card, findings: 1 })?.word).toBe("1 finding");
  expect(stateOf({ ...card, state: "missing" })).toBeNull();
});

test("fields of a phase are lines and globs stay as they are", () => {
  const text = "## Phase 0 — A\n\nObjective: Start.\nTouches: server/**, tests/**\n";
  expect(readable("phases", text)).toBe("## Phase 0 — A\n\n- **Objective:** Start.\n- **Touches:** `server/**, tests/**`\n");
  expect(readable("ui", text)).toBe(text);
});
