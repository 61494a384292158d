import { expect, test } from "vitest";

import { authorName, labelsOf } from "./labels";
import { lightOf, offerOf, sentenceOf, verbFor, wishOf } from "./offers";

const SOUTH = { rev: "south", isBranch: true };
const COMMIT = { rev: "3f8c1d2e4b5a69788796a5b4c3d2e1f001122334", isBranch: false };
const keys = (shiftKey = false, altKey = false) => ({ shiftKey, altKey });

test("branches are merged and commits copied, unless a key says otherwise", () => {
  expect(verbFor(SOUTH, keys())).toBe("merge");
  expect(verbFor(SOUTH, keys(true))).toBe("rebase");
  expect(verbFor(SOUTH, keys(false, true))).toBe("cherry-pick");
  expect(verbFor(COMMIT, keys())).toBe("cherry-pick");
  expect(verbFor(COMMIT, keys(true))).toBe("merge");
});

test("a rebase moves what is held, the others what it is dropped on", () => {
  expect(wishOf({ verb: "rebase", source: SOUTH, onto: "main" })).toEqual({ kind: "rebase", target: "south", sources: ["main"] });
  expect(wishOf({ verb: "merge", source: SOUTH, onto: "main" })).toEqual({ kind: "merge", target: "main", sources: ["south"] });
});

test("an offer comes back from its wish", () => {
  for (const verb of ["merge", "rebase", "cherry-pick"] as const) {
    const offer = { verb, source: SOUTH, onto: "main" };
    expect(offerOf(wishOf(offer))).toEqual(offer);
  }
});

test("sentences say what happens", () => {
  expect(sentenceOf({ verb: "merge", source: SOUTH, onto: "main" })).toBe("Merge south into main");
  expect(sentenceOf({ verb: "cherry-pick", source: COMMIT, onto: "main" })).toBe("Cherry-pick 3f8c1d2 onto main");
});

test("green goes through, yellow needs a person, the rest is there already", () => {
  expect(["clean", "fast-forward", "conflicts", "unrelated", "damaged", "up to date"].map(lightOf)).toEqual(["good", "good", "attention", "attention", "attention", "none"]);
});

test("refs are labelled by what they are; others are left out", () => {
  expect(labelsOf(["HEAD", "refs/tags/v1", "refs/heads/a/b", "refs/notes/x"])).toEqual([
    { kind: "branch", name: "a/b" },
    { kind: "tag", name: "v1" },
    { kind: "head", name: "HEAD" },
  ]);
  expect(authorName("Forge (anthropic:claude)")).toBe("anthropic:claude");
});
