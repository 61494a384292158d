import { expect, test } from "vitest";

import { byteSize, cost, count, duration, relativeTime, shortPath } from "./format";
import { fuzzy, ranked } from "./fuzzy";

test("numbers are short and exact enough", () => {
  expect([count(999), count(8130), count(12_000), count(2_500_000)]).toEqual(["999", "8.1k", "12k", "2.5M"]);
  expect([cost(0.41), cost(0.0304), cost(0), cost(null)]).toEqual(["$0.41", "$0.030", "$0", "–"]);
  expect([byteSize(999), byteSize(5120), byteSize(50_000_000)]).toEqual(["999 B", "5.1 kB", "50 MB"]);
  expect([duration(14), duration(75), duration(3675)]).toEqual(["0:14", "1:15", "1:01:15"]);
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
