import { expect, it } from "vitest";

import { FolderBuilder, unpacked } from "./packed_folders";

it("puts files into their folders, with the folders above them, in the order of the tree", () => {
  const builder = new FolderBuilder();
  for (const path of ["z.md", "a/b/10.py", "a/b/9.py", "a/c"]) builder.add(path, path === "a/c" ? "120000" : "100644");
  const folders = new Map([...builder.folders()].map((packed) => [packed.path, unpacked(packed)]));
  expect([...folders.keys()].sort()).toEqual(["", "a", "a/b"]);
  expect(folders.get("")).toEqual([
    { path: "a", name: "a", kind: "directory" },
    { path: "z.md", name: "z.md", kind: "file" },
  ]);
  expect(folders.get("a")?.map((entry) => [entry.name, entry.kind])).toEqual([["b", "directory"], ["c", "symlink"]]);
  expect(folders.get("a/b")?.map((entry) => entry.path)).toEqual(["a/b/9.py", "a/b/10.py"]);
});
