import { expect, test } from "vitest";

import { brought, byteSize, cost, count, counted, duration, plural, relativeTime, shortPath } from "./format";
import { fuzzy, ranked } from "./fuzzy";

test("numbers are short and exact enough", () => {
  expect([count(999), count(8130), count(12_000), count(2_500_000)]).toEqual(["999", "8.1k", "12k", "2.5M"]);
  expect([cost(0.41), cost(0.0304), cost(0), cost(null)]).toEqual(["$0.41", "$0.030", "$0", "–"]);
  expect([byteSize(999), byteSize(5120), byteSize(50_000_000)]).toEqual(["999 B", "5.1 kB", "50 MB"]);
  expect([duration(14), duration(75), duration(3675)]).toEqual(["0:14", "1:15", "1:01:15"]);
});

test("numbers have their noun", () => {
  expect([plural(1, "file"), plural(0, "file"), plural(1200, "branch", "branches")]).toEqual(["1 file", "0 files", "1,200 branches"]);
  expect([counted(1, "token"), counted(8130, "token")]).toEqual(["1 token", "8.1k tokens"]);
});

const SOURCES = import.meta.glob<string>(["../**/*.{ts,tsx}", "!../**/*.test.*", "!../api/schema.d.ts"], {
  query: "?raw",
  import: "default",
  eager: true,
});
// A number right before a noun in the plural, in a template or in JSX.
const COUNTED =
  /\{[^{}]*\}(?:<\/\w+>)? (?:more )?(?:answers|branches|changes|characters|commits|conflicts|days|documents|files|findings|folders|keys|lines|messages|models|people|points|projects|questions|repositories|requests|results|rounds|tests|times|tokens|tools|turns|users|words)\b(?!=)/;
// These are shown for more than one only.
const MANY = ["`Show more of ${files.length} files`", "all ${files.length} files`", "of ${questions.length} answers`"];

test("no count goes with a noun in the plural without asking for one", () => {
  const found = Object.entries(SOURCES).flatMap(([path, text]) =>
    text.split("\n").filter((line) => COUNTED.test(line) && !MANY.some((known) => line.includes(known))).map((line) => `${path}: ${line.trim()}`),
  );
  expect(Object.keys(SOURCES).length).toBeGreaterThan(100);
  expect(found).toEqual([]);
});

test("times are relative", () => {
  const now = Date.parse("2026-11-16T12:00:00Z");
  expect(relativeTime("2026-11-16T11:59:50Z", now)).toBe("now");
  expect(relativeTime("2026-11-16T11:57:00Z", now)).toBe("3 min. ago");
  expect(relativeTime(now / 1000 - 86_400, now)).toBe("yesterday");
});

test("paths are shortened in the middle and keep their name", () => {
  expect(shortPath("src/app.py", 20)).toBe("src/app.py");
  expect(shortPath("src/very/deep/folder/of/files/name.ts", 24)).toBe("src/…/of/files/name.ts");
  expect(shortPath("src/very/deep/a-name-longer-than-there-is-room.ts", 20)).toMatch(/^….*room\.ts$/);
});

test("letters match in order, and names before folders", () => {
  expect(fuzzy("xyz", "src/app.py")).toBeNull();
  expect(fuzzy("sap", "src/app.py")).not.toBeNull();
  const paths = ["app/very/long/other.ts", "src/app.ts", "docs/a/p/p.md"];
  expect(ranked("app", paths, (path) => path)[0]?.item).toBe("src/app.ts");
  expect(ranked("", paths, (path) => path).map(({ item }) => item)).toEqual(paths);
});

test("what goes along of a conversation is told in the words of the command line", () => {
  expect(brought({ turns: 5, summaries: 0, files: 6 })).toBe("conversation of 5 turns, 6 files in .forge/");
  expect(brought({ turns: 1, summaries: 0, files: 1 })).toBe("conversation of 1 turn, 1 file in .forge/");
  expect(brought({ turns: 0, summaries: 1, files: 1 })).toBe("summary of a conversation, 1 file in .forge/");
});
