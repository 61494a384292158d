import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Heard } from "./event_kinds";
import { Stream } from "./stream";

class Socket {
  static made: Socket[] = [];
  readyState = 0;
  sent: unknown[] = [];
  onopen?: () => void;
  onmessage?: (message: { data: string }) => void;
  onclose?: (event: { code: number }) => void;
  constructor() {
    Socket.made.push(this);
  }
  send(text: string) {
    this.sent.push(JSON.parse(text));
  }
  close() {
    this.readyState = 3;
  }
  opens() {
    this.readyState = 1;
    this.onopen?.();
  }
  says(message: object) {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
  breaks(code = 1006) {
    this.readyState = 3;
    this.onclose?.({ code });
  }
}

const last = () => Socket.made.at(-1)!;
const told = (topic: string, id: number) => ({ topic, id, time: 1, event: { type: "ProjectProgressed", project: "p", text: String(id) } });
let stream: Stream;
let heard: (number | null)[];
const hear = (item: Heard) => heard.push(item.id);

beforeEach(() => {
  vi.useFakeTimers();
  Socket.made = [];
  heard = [];
  stream = new Stream({ open: () => new Socket() as unknown as WebSocket, newest: (_, after) => Promise.resolve(Math.max(after, 7)) });
  stream.connect();
});
afterEach(() => {
  vi.useRealTimers();
});

test("a topic begins after what was said before, and goes on after the last id seen", async () => {
  last().opens();
  stream.hear("board", hear);
  await vi.advanceTimersByTimeAsync(0);
  expect(last().sent).toContainEqual({ subscribe: "board", after: 7 });
  last().says(told("board", 8));
  last().breaks();
  await vi.advanceTimersByTimeAsync(1000);
  last().opens();
  expect(last().sent).toEqual([{ subscribe: "board", after: 8 }]);
  last().says(told("board", 8));
  last().says(told("board", 9));
  expect(heard).toEqual([8, 9]);
});

test("the waits double from one second to thirty, and begin anew after a success", async () => {
  const waits: number[] = [];
  for (let i = 0; i < 7; i++) {
    last().breaks();
    const now = stream.connection();
    if (now.state === "reconnecting") waits.push((now.at - Date.now()) / 1000);
    await vi.advanceTimersByTimeAsync(30_000);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30]);
  last().opens();
  last().breaks();
  expect(stream.connection()).toEqual({ state: "reconnecting", at: Date.now() + 1000 });
});

test("an attempt can be made at once, and is made only once", async () => {
  for (let i = 0; i < 4; i++) {
    last().breaks();
    await vi.advanceTimersByTimeAsync(8000);
  }
  last().breaks(); // the next one comes in 16 s
  const before = Socket.made.length;
  stream.connectNow();
  stream.connectNow();
  expect(Socket.made.length).toBe(before + 1);
  expect(stream.connection()).toEqual({ state: "reconnecting", at: Date.now() });
  last().opens();
  expect(stream.connection()).toEqual({ state: "connected" });
  await vi.advanceTimersByTimeAsync(30_000);
  stream.connectNow();
  expect(Socket.made.length).toBe(before + 1);
});

test("an event that this page does not know moves its topic on like any other", async () => {
  last().opens();
  stream.hear("board", hear, 3);
  last().says({ topic: "board", id: 4, time: 1, event: { type: "Later", garden: "north" } });
  last().says({ topic: "board", id: 5, time: 1, event: { type: "Unreadable" } });
  last().breaks();
  await vi.advanceTimersByTimeAsync(1000);
  last().opens();
  expect(last().sent).toEqual([{ subscribe: "board", after: 5 }]);
  last().says(told("board", 6));
  expect(heard).toEqual([4, 5, 6]);
});

test("live pieces have no id and move nothing", async () => {
  last().opens();
  stream.hear("board", hear, 3);
  last().says({ topic: "board", live: true, event: { type: "TextStreamed", turn: "t", text: "a" } });
  last().breaks();
  await vi.advanceTimersByTimeAsync(1000);
  last().opens();
  expect(heard).toEqual([null]);
  expect(last().sent).toEqual([{ subscribe: "board", after: 3 }]);
});

test("two listeners share a topic, and the last one that goes ends it", () => {
  last().opens();
  const first = stream.hear("board", hear, 0);
  const second = stream.hear("board", hear, 0);
  last().says(told("board", 1));
  expect(heard).toEqual([1, 1]);
  first();
  expect(last().sent).toHaveLength(1);
  second();
  expect(last().sent).toContainEqual({ unsubscribe: "board" });
});

test("a ping is answered, and a refusal is not tried again", async () => {
  last().opens();
  last().says({ ping: 4 });
  expect(last().sent).toEqual([{ pong: 4 }]);
  last().breaks(1008);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stream.connection().state).toBe("refused");
  expect(Socket.made).toHaveLength(1);
});

test("a topic whose record is another one than before begins anew where that ends", async () => {
  last().opens();
  stream.hear("board", hear, 100);
  last().says({ topic: "board", problem: { code: "event_unknown" } });
  await vi.advanceTimersByTimeAsync(0);
  expect(last().sent).toEqual([{ subscribe: "board", after: 100 }, { subscribe: "board", after: 7 }]);
  last().says(told("board", 8));
  expect(heard).toEqual([8]);
});
