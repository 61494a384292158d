import { describe, expect, it } from "vitest";

import { refusal } from "./actions";
import { DECIDE, given, optionsOf, withoutAsked } from "./answers";
import { changedLines } from "./changes";
import { standing, phaseIndex } from "./phases";
import { slug } from "./slug";
import { fileRefusal, foundLinks } from "./sources";
import { outcomeOf } from "./tests";

const project = {
  phase: "spec_building",
  halt_reason: null,
  busy: false,
  waiting: null,
  open_questions: ["a", "b"],
  phase_times: {},
  problem: "",
  rounds: [],
  actions: ["correct", "terminate"],
};

describe("a project in words", () => {
  it("names what it waits for", () => {
    expect(standing(project).text).toBe("waits for you: 2 questions");
    expect(standing({ ...project, busy: true }).text).toBe("specifying…");
    expect(standing({ ...project, phase: "polishing", busy: true, rounds: [{}] }).text).toBe("polishing round 2…");
  });
  it("names an outline in the words of the server, in amber", () => {
    const outline = { open: 10, points: [], accepted: false, note: "", connect: [] };
    const halted = { ...project, phase: "halted", halt_reason: "phase3_output_incomplete", outline, label: "Outline ready · 10 points open" };
    expect(standing(halted)).toEqual({ meaning: "attention", text: "Outline ready · 10 points open", waits: true });
  });
  it("shows a halted one in the phase where it was halted", () => {
    expect(phaseIndex({ phase: "halted", halt_reason: "guard_fabrication", phase_times: {} })).toBe(5);
    expect(phaseIndex({ phase: "halted", halt_reason: "agent_failure", phase_times: { brain_dump: 2, distilling: 1 } })).toBe(1);
  });
  it("says why a button cannot be pressed", () => {
    expect(refusal("confirm", project)).toBe("2 questions are still open. Answer before confirming.");
    expect(refusal("terminate", project)).toBeUndefined();
  });
});

describe("what people give", () => {
  it("makes directories of names as the server does", () => {
    expect(slug("Bob's Project / v2")).toBe("bobs-project-v2");
    expect(slug("Campaign Analysis: Q3 (Final)")).toBe("campaign-analysis-q3-final");
    expect(slug("???")).toBe("untitled-project");
  });
  it("knows links that connectors fetch", () => {
    const text = "See https://www.notion.so/Team-1, (https://docs.google.com/document/d/abc/edit) and https://example.org/x.";
    expect(foundLinks(text).map(({ connector }) => connector)).toEqual(["notion", "google_drive"]);
    expect(foundLinks("https://notion.so.evil.example/a")).toEqual([]);
  });
  it("names files that are not taken", () => {
    expect(fileRefusal({ name: "film.mp4", size: 1 }, 50)).toContain(".mp4");
    expect(fileRefusal({ name: "big.txt", size: 50_000_001 }, 50)).toContain("at most 50 MB");
    expect(fileRefusal({ name: "notes.md", size: 10 }, 50)).toBeUndefined();
  });
});

describe("questions", () => {
  it("offers what the question itself names", () => {
    expect(optionsOf("Indoors or outdoors?")).toEqual(["Indoors", "Outdoors"]);
    expect(optionsOf("Is a permit needed?")).toEqual(["Yes", "No"]);
    expect(optionsOf("Who cooks?")).toEqual([]);
  });
  it("sends answers by the number of their question, each on one line", () => {
    expect(given(["Yes", " ", DECIDE])).toEqual([
      { question: 1, text: "Yes", delegated: false },
      { question: 3, text: "", delegated: true },
    ]);
  });
});

it("reads a unified diff", () => {
  const lines = changedLines("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n");
  expect(lines.map(({ kind, text }) => [kind, text])).toEqual([["same", "same"], ["removed", "old"], ["added", "new"]]);
});

describe("a run of tests", () => {
  const run = { outcome: "failed", total: 3, passed: 2, failed: 1, new_failures: [], known_failures: ["old"] } as unknown as Parameters<typeof outcomeOf>[0];
  it("is good where only tests fail that failed before the work", () => {
    expect(outcomeOf(run)).toEqual({ text: "2 of 3 tests pass", meaning: "good" });
    expect(outcomeOf({ ...run, new_failures: ["new"], known_failures: [] }).meaning).toBe("bad");
  });
  it("that cannot run is neither passed nor failed", () => {
    expect(outcomeOf({ ...run, outcome: "cannot run" })).toEqual({ text: "cannot run", meaning: "attention" });
  });
});

describe("questions that a card asks", () => {
  const said = (role: string, content: string) => ({ role, content });
  const first = said("human", "We bake bread.");

  it("are not repeated by the last message", () => {
    expect(withoutAsked([first, said("ai", "Background?")], "Background?")).toEqual([first]);
    expect(withoutAsked([first, said("ai", "I need your decision: Red?")], "Red?")).toEqual([first]);
  });

  it("stay where the message says more, is a person's, or nothing is asked", () => {
    for (const last of [said("ai", "Notion is not set up.\n\nRed?"), said("human", "Red?"), said("ai", "Blue?")]) {
      expect(withoutAsked([first, last], "Red?")).toEqual([first, last]);
    }
    expect(withoutAsked([first], "")).toEqual([first]);
  });
});
