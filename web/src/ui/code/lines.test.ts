import { expect, it } from "vitest";

import { asText, difference, lineBreakOf } from "./lines";

it("keeps line breaks: CRLF only where every line ends so", () => {
  expect(lineBreakOf("a\r\nb\r\n")).toBe("\r\n");
  expect(lineBreakOf("a\r\nb\n")).toBe("\n");
  expect(lineBreakOf("a")).toBe("\n");
  expect(asText("a\r\nb\n", "\n").line(1).text).toBe("a\r");
});

it("changes only the stretch that differs, so that the cursor stays where it is", () => {
  const change = difference(asText("one\ntwo\nthree", "\n"), asText("one\n2\nthree", "\n"));
  expect(change).toMatchObject({ from: 4, to: 7 });
  expect(change?.insert.toString()).toBe("2");
  expect(difference(asText("a", "\n"), asText("a", "\n"))).toBeNull();
});
