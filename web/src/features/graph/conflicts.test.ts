import { expect, test } from "vitest";

import { hasMarkers, isClash, joined, segmentsOf } from "./conflicts";

const MARKED = "top\n<<<<<<< main\nroses\n=======\nlilies\n>>>>>>> south\nend\n";

test("a marked file is taken apart into what is the same and what clashes", () => {
  expect(segmentsOf(MARKED)).toEqual([{ same: "top\n" }, { ours: "roses\n", base: null, theirs: "lilies\n" }, { same: "end\n" }]);
});

test("the base of a three-way mark is kept apart", () => {
  const marked = "<<<<<<< a\n1\n||||||| base\n0\n=======\n2\n>>>>>>> b\n";
  expect(segmentsOf(marked)).toEqual([{ ours: "1\n", base: "0\n", theirs: "2\n" }]);
});

test("choices are put together; without all of them there is no file", () => {
  const segments = segmentsOf(MARKED);
  expect(joined(segments, {})).toBeNull();
  expect(joined(segments, { 1: "ours" })).toBe("top\nroses\nend\n");
  expect(joined(segments, { 1: "both" })).toBe("top\nroses\nlilies\nend\n");
  expect(joined(segments, { 1: { text: "peonies\n" } })).toBe("top\npeonies\nend\n");
});

test("both sides stay two lines where the first has no line break at its end", () => {
  const segments = [{ ours: "a", base: null, theirs: "b" }];
  expect(joined(segments, { 0: "both" })).toBe("a\nb");
});

test("a line of equal signs outside a clash is text", () => {
  expect(segmentsOf("Title\n=======\ntext\n")).toEqual([{ same: "Title\n=======\ntext\n" }]);
  expect(hasMarkers("Title\n=======\n")).toBe(false);
  expect(hasMarkers(MARKED)).toBe(true);
});

test("Windows line breaks stay as they are", () => {
  const segments = segmentsOf("<<<<<<< a\r\n1\r\n=======\r\n2\r\n>>>>>>> b\r\n");
  expect(segments.filter(isClash)).toHaveLength(1);
  expect(joined(segments, { 0: "theirs" })).toBe("2\r\n");
});
