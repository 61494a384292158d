import { expect, it } from "vitest";

import { hunksOf } from "./patching";

it("numbers the lines of both sides", () => {
  const diff = "--- default\n+++ yours\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n\\ No newline at end of file\n";
  expect(hunksOf(diff)).toEqual([
    {
      old_start: 1,
      new_start: 1,
      heading: "",
      lines: [
        { sign: " ", old_number: 1, new_number: 1, text: "one" },
        { sign: "-", old_number: 2, new_number: null, text: "two" },
        { sign: "+", old_number: null, new_number: 2, text: "2" },
      ],
    },
  ]);
});

it("no difference has no hunks", () => {
  expect(hunksOf("")).toEqual([]);
});
