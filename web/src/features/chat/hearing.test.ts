import { describe, expect, it } from "vitest";

import type { Event, Heard } from "@/api";

import { heardTurn, interrupted, type Live } from "./hearing";
import { LiveTurn } from "./live_turn";
import { waitsForPerson } from "./parts";

const turn = "000002-abcd1234";
const started: Event = { type: "TurnStarted", turn, branch: "ai/first", model: "m" };
const piece = (text: string): Event => ({ type: "TextStreamed", turn, text, answer: 0, at: 0 });
const answered = (text: string): Event => ({ type: "ModelAnswered", turn, text, calls: [], input_tokens: 10, output_tokens: 5, cache_read_tokens: 4, cost: 0.5, answer: 0 });
const committed: Event = { type: "TurnCommitted", turn, branch: "ai/first", commit: "c1", files: ["a"], text: "" };
const after = (...events: Event[]) => events.reduce<Live | null>((live, event) => heardTurn(live, event, 1), null);

describe("a turn that is heard", () => {
  it("puts pieces together until the whole text takes their place", () => {
    expect(after(started, piece("one "), piece("two"))?.turn.streaming).toBe("one two");
    const whole = after(started, piece("one "), answered("one two"))?.turn;
    expect(whole?.streaming).toBe("");
    expect(whole?.parts).toEqual([{ kind: "text", text: "one two" }]);
    expect(whole?.spent).toEqual({ input: 10, output: 5, cached: 4, cost: 0.5 });
  });

  it("tells of trouble with the model until it answers", () => {
    const retry: Event = {
      type: "ModelRetryScheduled", turn, project: "", model: "m", kind: "overloaded", attempt: 3, attempts: 6, wait: 8,
      text: "overloaded, retrying in 8 s (3 of 6)",
    };
    expect(after(started, retry)?.turn.trouble).toBe("m: overloaded, retrying in 8 s (3 of 6)");
    expect(after(started, retry, piece("one"))?.turn.trouble).toBeNull();
    expect(after(started, { ...retry, turn: "", project: "p" })?.turn.trouble).toBeNull();
  });

  it("times its calls and ends once", () => {
    let live = after(started);
    live = heardTurn(live, { type: "ToolStarted", turn, call: "c", name: "search", about: "x" }, 10);
    live = heardTurn(live, { type: "ToolEnded", turn, call: "c", name: "search", failed: true, text: "no" }, 12.5);
    expect(live?.turn.parts).toMatchObject([{ kind: "call", call: { seconds: 2.5, failed: true, result: "no" } }]);
    live = heardTurn(live, committed, 13);
    expect(live?.turn).toMatchObject({ state: "done", commit: "c1" });
    expect(heardTurn(live, piece("late"), 14)).toBe(live);
  });

  it("goes on over an event that this page does not know", () => {
    const before = after(started, piece("one "));
    const live = heardTurn(before, { type: "Later", turn, litres: 5 } as never, 2);
    expect(live).toBe(before);
    expect(heardTurn(live, piece("two"), 3)?.turn.streaming).toBe("one two");
  });

  it("waits for a person from the question to its answer, unless it ends before", () => {
    const asks: Event = { type: "ToolStarted", turn, call: "c", name: "ask_user", about: "Which colour?" };
    const waits = (...events: Event[]) => after(started, ...events)?.turn;
    expect(waits(asks)).toSatisfy(waitsForPerson);
    expect(waits(asks, { type: "ToolEnded", turn, call: "c", name: "ask_user", failed: false, text: "blue" })).not.toSatisfy(waitsForPerson);
    expect(waits(asks, { type: "TurnStopped", turn, branch: "ai/first", reason: "cancelled", message: "", commit: "c1" })).not.toSatisfy(waitsForPerson);
    expect(waits({ ...asks, name: "run_command" })).not.toSatisfy(waitsForPerson);
  });

  it("after a break shows a text that is told again only when it is longer", () => {
    let live = after(started, piece("one two "));
    live = live && interrupted(live);
    live = heardTurn(live, piece("one "), 2);
    expect(live?.turn.streaming).toBe("one two ");
    live = heardTurn(live, piece("two three"), 2);
    expect(live?.turn.streaming).toBe("one two three");
  });

  it("after a break leaves out pieces whose beginning was missed", () => {
    let live = after(started, piece("one two "));
    live = live && interrupted(live);
    live = heardTurn(live, piece("five six seven eight"), 2);
    expect(live?.turn.streaming).toBe("one two ");
    expect(heardTurn(live, answered("one to eight"), 3)?.turn.parts).toEqual([{ kind: "text", text: "one to eight" }]);
  });
});

describe("the store of a branch", () => {
  const record = [started, answered("said"), committed].map((event, i) => ({ id: i + 1, time: 1, event }));
  const heard = (id: number | null, event: Event): Heard => ({ topic: "t", id, time: 1, event });
  const read = (_: string, from: number) => Promise.resolve({ items: record.filter(({ id }) => id > from), next: record.length });

  it("reads what a gap in the ids says it missed, and takes each event once", async () => {
    const store = new LiveTurn("t", read, (draw) => draw());
    store.ready();
    store.take(heard(1, started));
    store.take(heard(3, committed));
    await expect.poll(() => store.now()?.state).toBe("done");
    expect(store.now()?.parts).toEqual([{ kind: "text", text: "said" }]);
    store.take(heard(2, answered("said")));
    expect(store.now()?.parts).toHaveLength(1);
  });

  it("reads a turn from its beginning when it comes in the middle", async () => {
    const store = new LiveTurn("t", read, (draw) => draw());
    store.catchUp(0);
    store.take(heard(null, piece("half a w")));
    await expect.poll(() => store.now()?.parts).toEqual([{ kind: "text", text: "said" }]);
  });
});
