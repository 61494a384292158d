import { describe, expect, it } from "vitest";

import type { Event } from "@/api";

import { heardExplorer, quoted, type LiveTurn } from "./explorer_turn";

const turn = "explore-p-1-3/respond";
const piece = (text: string, at: number, answer = 1): Event => ({ type: "TextStreamed", turn, text, answer, at });
const heard = (...events: Event[]) => events.reduce<LiveTurn | null>(heardExplorer, null);

describe("the explorer's turn", () => {
  it("grows piece by piece and leaves out what follows a gap", () => {
    expect(heard(piece("Why ", 0), piece("now?", 4))?.text).toBe("Why now?");
    expect(heard(piece("Why ", 0), piece("later", 20))?.text).toBe("Why ");
    expect(heard(piece("middle", 30))?.text).toBe("");
  });
  it("begins anew with each answer and keeps what was noted", () => {
    const noted: Event = { type: "ToolEnded", turn, call: "c", name: "register_assumption", text: "A1 registered.", failed: false };
    const now = heard(piece("I note it.", 0), noted, { ...noted, failed: true }, piece("Who", 0, 2));
    expect(now).toMatchObject({ text: "Who", answer: 2, noted: ["A1 registered."] });
  });
  it("hears nothing of other turns and ends with the message", () => {
    expect(heard({ type: "TextStreamed", turn: "contracts-1", text: "x", answer: 1, at: 0 })).toBeNull();
    expect(heard(piece("Why", 0), { type: "ProjectSaid", project: "p-1", role: "ai", text: "Why now?" })).toBeNull();
  });
});

it("quotes the question that is answered after what is written already", () => {
  expect(quoted("Why now?", "")).toBe("> Why now?\n");
  expect(quoted("Who?", "> Why now?\nA customer.")).toBe("> Why now?\nA customer.\n\n> Who?\n");
});
