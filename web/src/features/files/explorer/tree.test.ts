import { describe, expect, it } from "vitest";

import type { FolderEntry } from "@/api";

import { foldersAbove, inOpenOnes, rowsOf, sorted, typedAhead, type TreeParts } from "./tree";

const entry = (path: string, kind: FolderEntry["kind"] = "file"): FolderEntry => ({ path, name: path.split("/").at(-1) ?? "", kind, mode: "100644", etag: "e" });
const parts = (given: Partial<TreeParts>): TreeParts => ({ folders: new Map(), open: new Set(), gone: new Map(), naming: undefined, ...given });

describe("the tree", () => {
  it("shows of the open folders those that are in open ones only", () => {
    expect(inOpenOnes(new Set(["a/b/c", "a", "a/b", "x/y", "z"]))).toEqual(["a/b/c", "a", "a/b", "z"]);
  });

  it("puts folders first and counts as people do", () => {
    const names = sorted([entry("b10.md"), entry("b2.md"), entry("Zed", "directory"), entry("a.md")]).map((each) => each.name);
    expect(names).toEqual(["Zed", "a.md", "b2.md", "b10.md"]);
  });

  it("has rows below open folders only, and a waiting one while a folder is read", () => {
    const folders = new Map([
      ["", [entry("src", "directory"), entry("docs", "directory"), entry("a.md")]],
      ["src", [entry("src/app.py")]],
    ]);
    const rows = rowsOf(parts({ folders, open: new Set(["src", "docs"]) }));
    expect(rows.map((row) => [row.path, row.depth, row.kind])).toEqual([
      ["src", 0, "directory"],
      ["src/app.py", 1, "file"],
      ["docs", 0, "directory"],
      ["docs/…", 1, "waiting"],
      ["a.md", 0, "file"],
    ]);
    expect(rows[4]).toMatchObject({ position: 3, siblings: 3 });
  });

  it("shows deleted files where they were, and the field of a new one at the top of its folder", () => {
    const rows = rowsOf(parts({ folders: new Map([["", [entry("a.md")]]]), gone: new Map([["", ["b.md"]]]), naming: "" }));
    expect(rows.map((row) => row.kind)).toEqual(["naming", "file", "gone"]);
    const again = rowsOf(parts({ folders: new Map([["", [entry("b.md")]]]), gone: new Map([["", ["b.md"]]]) }));
    expect(again.map((row) => row.kind)).toEqual(["file"]);
  });

  it("finds by first letters from the active row on, and steps on with one letter", () => {
    const rows = rowsOf(parts({ folders: new Map([["", [entry("apple"), entry("banana"), entry("avocado")]]]) }));
    expect(typedAhead(rows, 0, "a")).toBe(2);
    expect(typedAhead(rows, 2, "a")).toBe(0);
    expect(typedAhead(rows, 0, "av")).toBe(2);
    expect(typedAhead(rows, 0, "x")).toBe(-1);
  });

  it("knows the folders above a path", () => {
    expect(foldersAbove("a/b/c.md")).toEqual(["a", "a/b"]);
  });
});
