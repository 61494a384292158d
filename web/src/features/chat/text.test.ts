import { describe, expect, it } from "vitest";

import { blocksOf } from "./blocks";
import { joined, nextPageSize } from "./conversation";
import { nextDrawn } from "./drawn";
import { highlighted } from "./highlight";
import { partsOf, subjectOf, withoutSubject } from "./parts";
import { branchFor, free, mentionsIn, wishAt, withMention } from "./writing";
import type { Turn } from "@/api";

describe("blocks", () => {
  it("keeps loose lists together and code apart", () => {
    const text = "# T\n\n1. a\n\n2. b\n\n   more\n\nend\n```py\nx\n\ny\n```\nafter";
    expect(blocksOf(text)).toEqual([
      { kind: "prose", text: "# T" },
      { kind: "prose", text: "1. a\n\n2. b\n\n   more" },
      { kind: "prose", text: "end" },
      { kind: "code", text: "x\n\ny", language: "py", closed: true },
      { kind: "prose", text: "after" },
    ]);
  });

  it("leaves finished blocks as they are while the text grows", () => {
    const whole = "one\n\ntwo\n\n```js\nlet a\n```\n\nthree";
    for (let end = 0; end <= whole.length; end++) {
      const before = blocksOf(whole.slice(0, end)).slice(0, -1);
      expect(blocksOf(whole).slice(0, before.length)).toEqual(before);
    }
  });

  it("takes a fence that is open to the end, and only a fence as long closes it", () => {
    expect(blocksOf("````\n```\nx")).toEqual([{ kind: "code", text: "```\nx", language: "", closed: false }]);
  });
});

describe("highlighting", () => {
  it("inks without changing a letter", () => {
    const code = 'def f(x):  # "no"\n    return """a\nb""" + 12';
    const inked = highlighted(code, "python");
    expect(inked.map((each) => each.text).join("")).toBe(code);
    expect(inked.filter((each) => each.ink === "keyword").map((each) => each.text)).toEqual(["def", "return"]);
    expect(inked.find((each) => each.ink === "comment")?.text).toBe('# "no"');
    expect(inked.find((each) => each.ink === "string")?.text).toBe('"""a\nb"""');
  });
});

describe("writing", () => {
  it("knows what is being looked for at the caret", () => {
    expect(wishAt("see @src/a now", 10)).toEqual({ kind: "file", query: "src/a", from: 4, to: 10 });
    expect(wishAt("a@b", 3)).toBeNull();
    expect(wishAt("/fo", 3)).toMatchObject({ kind: "command", query: "fo" });
    expect(wishAt("and /fo", 7)).toBeNull();
  });

  it("puts a path there and finds it again, with the full stop after it", () => {
    const made = withMention("see @no", { kind: "file", query: "no", from: 4, to: 7 }, "beds/north.md");
    expect(made).toEqual({ text: "see @beds/north.md ", caret: 19 });
    expect(mentionsIn("see @beds/north.md. And @gone", new Set(["beds/north.md"]))).toEqual(["beds/north.md"]);
  });

  it("names branches that are free", () => {
    expect(branchFor("Fix the Café's login page, please", new Set())).toBe("ai/fix-the-cafe-s");
    expect(branchFor("???", new Set(["ai/chat"]))).toBe("ai/chat-2");
    expect(free("a-2", new Set(["a-2", "a-3"]))).toBe("a-4");
  });
});

describe("turns", () => {
  const turn = (number: number) => ({ number, id: `${number}-x` }) as unknown as Turn;
  it("keeps older ones only without a gap, and none that were rewound", () => {
    expect(joined([turn(5), turn(4)], [turn(3), turn(2)]).map((each) => each.number)).toEqual([5, 4, 3, 2]);
    expect(joined([turn(9), turn(8)], [turn(3)]).map((each) => each.number)).toEqual([9, 8]);
    expect(joined([turn(2), turn(1)], [turn(5), turn(4)]).map((each) => each.number)).toEqual([2, 1]);
  });

  it("shows the line for the commit there and nowhere else", () => {
    const text = "Done.\n\n**Commit:** Water the beds";
    expect(subjectOf(text)).toBe("Water the beds");
    expect(withoutSubject(text)).toBe("Done.");
  });

  it("joins calls with their results, and finds what was thought", () => {
    const parts = partsOf("t", [
      { role: "context", text: "x" },
      { role: "assistant", text: "I look.", opaque: [{ part: { part_kind: "thinking", content: "hm" } }], calls: [{ id: "1", name: "search", arguments: { query: "a\n b" } }] },
      { role: "tool", call_id: "1", text: "found", failed: false },
    ]);
    expect(parts).toMatchObject([
      { kind: "thinking", text: "hm" },
      { kind: "text", text: "I look." },
      { kind: "call", call: { about: "a b", result: "found", failed: false } },
    ]);
  });
});

describe("a long conversation", () => {
  it("comes in larger pages the further up one goes", () => {
    expect([nextPageSize(0), nextPageSize(12), nextPageSize(48), nextPageSize(300)]).toEqual([12, 12, 48, 100]);
  });

  it("is drawn from its end on, a few turns at a time", () => {
    expect(nextDrawn(["a", "b", "c", "d"], new Set(["d"]), 2)).toEqual(["c", "b"]);
    expect(nextDrawn(["a", "b"], new Set(["a", "b"]), 2)).toEqual([]);
  });
});
