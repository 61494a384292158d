import { describe, expect, it } from "vitest";

import { PathIndex } from "./path_index";
import { awaited, wishOf as fileWish } from "./QuickOpen";
import type { PathSearch } from "./usePathSearch";
import { globs, shownLine } from "./wish";

const NONE = new Map<string, number>();

function indexOf(...paths: string[]): PathIndex {
  const index = new PathIndex();
  index.add(paths);
  return index;
}

describe("quick open", () => {
  it("prefers the name to the folders, and the beginning of it", () => {
    const index = indexOf("view/readme.md", "src/preview.ts", "src/view.ts", "very/deep/view/other.ts");
    expect(index.find("view", NONE, 10).map((found) => found.path)).toEqual(["src/view.ts", "src/preview.ts", "view/readme.md", "very/deep/view/other.ts"]);
  });

  it("matches first letters of words, and forgets nothing when letters are taken back", () => {
    const index = indexOf("src/file_view.test.ts", "src/favourite.txt");
    expect(index.find("fvt", NONE, 10)[0]?.path).toBe("src/file_view.test.ts");
    expect(index.find("fvtx", NONE, 10).map((found) => found.path)).toEqual(["src/favourite.txt"]);
    expect(index.find("f", NONE, 10)).toHaveLength(2);
  });

  it("lists what was opened last before the rest, and only if it is still there", () => {
    const index = indexOf("a.md", "b.md", "c.md");
    expect(index.find("", new Map([["c.md", 0], ["gone.md", 1]]), 10).map((found) => found.path)).toEqual(["c.md", "a.md", "b.md"]);
  });

  it("takes a line behind a colon", () => {
    expect(fileWish("app.py:42")).toEqual({ query: "app.py", line: 42 });
    expect(fileWish(":7")).toEqual({ query: "", line: 7 });
    expect(fileWish("app:")).toEqual({ query: "app", line: undefined });
  });
});

describe("Enter before the list is there", () => {
  const search = (paths: string[], more: Partial<PathSearch> = {}): PathSearch => ({ found: paths.map((path) => ({ path, at: [] })), foundFor: "app", foundInAll: true, size: 9, reading: false, problem: undefined, ...more });

  it("opens the best match among all paths, and one that is named whole at once", () => {
    expect(awaited(search(["src/app.py", "app/x.py"], { foundInAll: false }), "app")).toBeUndefined();
    expect(awaited(search(["src/app.py", "app/x.py"]), "app")).toBe("src/app.py");
    expect(awaited(search(["src/happy", "src/app"], { foundInAll: false }), "app")).toBe("src/app");
  });

  it("never opens what was found for other letters", () => {
    expect(awaited(search(["src/a.py"], { foundFor: "a" }), "app")).toBeUndefined();
    expect(awaited(search([]), "app")).toBeUndefined();
  });
});

describe("search", () => {
  it("reads globs; a plain folder means all below it", () => {
    expect(globs("*.py, docs ,./src/app.ts, tests/")).toEqual(["*.py", "docs/**", "src/app.ts", "tests/**"]);
  });

  it("cuts a long line around its match", () => {
    const long = `${"x".repeat(1000)}tulip${"y".repeat(1000)}`;
    const { text, spans } = shownLine(long, [[1000, 1005]]);
    expect(text.length).toBeLessThan(220);
    expect(text.slice(...(spans[0] ?? [0, 0]))).toBe("tulip");
    expect(shownLine("    tulip", [[4, 9]])).toEqual({ text: "tulip", spans: [[0, 5]] });
  });
});
