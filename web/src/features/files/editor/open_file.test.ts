import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { readDraft, writeDraft } from "@/lib/unsaved";

import { OpenFile } from "./open_file";

const place = { repo: "r", branch: "ai/x", path: "a:b.md" };
const version = (text: string) => ({ text, etag: `e-${text}` });

/** An editor that holds a text. */
function edited(file: OpenFile) {
  let held = file.text();
  file.attach({ text: () => held, replace: (text) => (held = text) });
  return {
    type: (text: string) => {
      held = text;
      file.edited(text !== file.base.text);
    },
    shown: () => held,
  };
}

beforeEach(() => writeDraft(place, undefined));
afterEach(() => vi.useRealTimers());

describe("an open file", () => {
  it("shows what comes from the branch while nothing is unsaved, and remembers what was known", () => {
    const file = new OpenFile(place, version("one"));
    const editor = edited(file);
    file.take(version("two"));
    file.take(version("three"));
    expect(editor.shown()).toBe("three");
    expect(file.snapshot()).toMatchObject({ dirty: false, theirs: null, unseen: "one" });
    file.seen();
    expect(file.snapshot().unseen).toBeNull();
  });

  it("never replaces unsaved text: theirs is kept beside it", () => {
    const file = new OpenFile(place, version("one"));
    const editor = edited(file);
    editor.type("mine");
    file.take(version("theirs"));
    expect(editor.shown()).toBe("mine");
    expect(file.snapshot().theirs?.text).toBe("theirs");
    expect(file.base.etag).toBe("e-one");
    file.keepMine();
    expect(file.base.etag).toBe("e-theirs");
    expect(file.snapshot()).toMatchObject({ dirty: true, theirs: null });
  });

  it("takes theirs when asked to, and has no draft any more", () => {
    const file = new OpenFile(place, version("one"));
    const editor = edited(file);
    editor.type("mine");
    file.take(version("theirs"));
    file.takeTheirs();
    expect(editor.shown()).toBe("theirs");
    expect(file.snapshot()).toMatchObject({ dirty: false, theirs: null });
    expect(readDraft(place)).toBeUndefined();
  });

  it("is clean when the branch has the very same text", () => {
    const file = new OpenFile(place, version("one"));
    edited(file).type("same");
    file.take(version("same"));
    expect(file.snapshot()).toMatchObject({ dirty: false, theirs: null });
  });

  it("stays unsaved where more was typed while it was being saved", () => {
    const file = new OpenFile(place, version("one"));
    const editor = edited(file);
    editor.type("two");
    editor.type("two and more");
    file.saved(version("two"));
    expect(file.snapshot().dirty).toBe(true);
    expect(readDraft(place)).toEqual({ text: "two and more", etag: "e-two" });
  });

  it("comes back from a draft, with a conflict where the branch moved meanwhile", () => {
    writeDraft(place, { text: "mine", etag: "e-one" });
    expect(new OpenFile(place, version("one")).snapshot()).toMatchObject({ dirty: true, theirs: null });
    const parted = new OpenFile(place, version("two"));
    expect(parted.text()).toBe("mine");
    expect(parted.snapshot().theirs?.text).toBe("two");
    expect(parted.base.etag).toBe("e-one");
  });

  it("knows after a reload what the person had not seen, until it is marked as seen", () => {
    const file = new OpenFile(place, { ...version("one"), commit: "c1" });
    file.take({ ...version("two"), commit: "c2" });
    file.take({ ...version("three"), commit: "c3" });
    const again = new OpenFile(place, { ...version("three"), commit: "c3" });
    expect(again.since).toBe("c1");
    again.take({ ...version("four"), commit: "c4" });
    again.recall("one");
    expect(again.snapshot().unseen).toBe("one");
    again.seen();
    expect(new OpenFile(place, version("four")).since).toBeUndefined();
  });

  it("forgets the draft when the text is typed back", () => {
    const file = new OpenFile(place, version("one"));
    const editor = edited(file);
    editor.type("two");
    file.flush();
    expect(readDraft(place)?.text).toBe("two");
    editor.type("one");
    expect(readDraft(place)).toBeUndefined();
  });

  it("is changed at once, but tells and writes only after the keystroke", () => {
    vi.useFakeTimers();
    const file = new OpenFile(place, version("one"));
    const told = vi.fn();
    file.subscribe(told);
    edited(file).type("two");
    expect(file.snapshot().dirty).toBe(true);
    expect(told).not.toHaveBeenCalled();
    expect(readDraft(place)).toBeUndefined();
    vi.advanceTimersByTime(0);
    expect(told).toHaveBeenCalledOnce();
    expect(readDraft(place)?.text).toBe("two");
  });

  it("writes a large text in a pause, or after a few seconds of typing without one", () => {
    vi.useFakeTimers();
    const large = "x".repeat(200_000);
    const file = new OpenFile(place, version(large));
    const editor = edited(file);
    const type = (n: number) => editor.type(large + "y".repeat(n));
    type(1);
    vi.advanceTimersByTime(0);
    type(2);
    for (let n = 3; n < 7; n++) {
      vi.advanceTimersByTime(500);
      type(n);
    }
    expect(readDraft(place)?.text.length).toBe(200_001);
    vi.advanceTimersByTime(1_000);
    expect(readDraft(place)?.text.length).toBe(200_006);
    type(7);
    for (let n = 8; n < 28; n++) {
      vi.advanceTimersByTime(500);
      type(n);
    }
    expect(readDraft(place)?.text.length).toBeGreaterThan(200_006);
  });
});
