/** Folders on their way from a worker to the page: names, and one letter for the kind of each. */
import { sorted, type TreeEntry } from "./tree";

export interface PackedFolder {
  path: string;
  names: string[];
  /** "d" folder, "l" link, "f" file. */
  kinds: string;
}

const SYMLINK = "120000";
const LETTERS: Record<TreeEntry["kind"], string> = { directory: "d", symlink: "l", file: "f", submodule: "s" };
const KINDS: Record<string, TreeEntry["kind"]> = { d: "directory", l: "symlink", f: "file", s: "submodule" };

const below = (folder: string, name: string) => (folder === "" ? name : `${folder}/${name}`);

export class FolderBuilder {
  private readonly found = new Map<string, TreeEntry[]>([["", []]]);

  add(path: string, mode: string): void {
    this.folderOf(path).push({ path, name: path.slice(path.lastIndexOf("/") + 1), kind: mode === SYMLINK ? "symlink" : "file" });
  }

  *folders(): Generator<PackedFolder> {
    for (const [path, entries] of this.found) {
      const inOrder = sorted(entries);
      yield { path, names: inOrder.map((entry) => entry.name), kinds: inOrder.map((entry) => LETTERS[entry.kind]).join("") };
    }
  }

  /** The entries beside a path; folders above come to be with it. */
  private folderOf(path: string): TreeEntry[] {
    const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    const known = this.found.get(folder);
    if (known !== undefined) return known;
    this.folderOf(folder).push({ path: folder, name: folder.slice(folder.lastIndexOf("/") + 1), kind: "directory" });
    const made: TreeEntry[] = [];
    this.found.set(folder, made);
    return made;
  }
}

export function unpacked({ path, names, kinds }: PackedFolder): TreeEntry[] {
  return names.map((name, i) => ({ path: below(path, name), name, kind: KINDS[kinds.charAt(i)] ?? "file" }));
}
