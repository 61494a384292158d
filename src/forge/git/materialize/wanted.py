"""What a directory should hold: the tree of a commit, and on top of it what is pending."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forge.git.errors import RepositoryUnreadable
from forge.git.objects import trees
from forge.git.workspace import paths

if TYPE_CHECKING:
    from forge.git.materialize.links import Spelling
    from forge.git.objects.object_store import Objects
    from forge.git.values import Entry, ObjectId
    from forge.git.workspace.pending import Pending

SUBMODULE = "a submodule; its files are in another repository"
_TOO_LONG = "a name too long for a file"
_TOO_DEEP = "folders nested too deeply"
MAX_DEPTH = 250
# A few small trees can unfold into more files than a disk has room for.
MAX_FILES = 1_000_000


@dataclass(frozen=True, slots=True)
class Wanted:
    tree: ObjectId
    pending: Mapping[str, Pending | None] = field(default_factory=dict)

    def entry(self, objects: Objects, path: str) -> Entry | None:
        """The file, symlink or submodule at `path`."""
        if path in self.pending:
            new = self.pending[path]
            return new.entry if new else None
        return file_in(objects, self.tree, path)

    def own(self) -> dict[str, Entry | None]:
        return {path: new.entry if new else None for path, new in self.pending.items()}


def file_in(objects: Objects, tree: ObjectId, path: str) -> Entry | None:
    found = objects.entry(tree, path)
    return None if found is None or found.is_tree else found


@dataclass(slots=True)
class Listing:
    files: dict[str, Entry] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    """Names that no directory may have, or that are one name on this file system."""


def listing(objects: Objects, wanted: Wanted, spelling: Spelling) -> Listing:
    """Everything that is wanted. A tree made to do harm loses the entries that would."""
    found = Listing()
    folders: list[tuple[str, ObjectId, int]] = [("", wanted.tree, 0)]
    while folders:
        prefix, tree, depth = folders.pop()
        seen: set[str] = set()
        for name, entry in objects.tree(tree).items():
            path = prefix + name
            why = name_complaint(name) or (_TOO_DEEP if depth > MAX_DEPTH else "")
            if not why and spelling(name) in seen:
                why = "a name that this file system takes for another one beside it"
            seen.add(spelling(name))
            if why:
                found.skipped[path] = why
            elif entry.is_tree:
                folders.append((path + "/", entry.id, depth + 1))
            else:
                found.files[path] = entry
        if len(found.files) + len(found.skipped) + len(folders) > MAX_FILES:
            raise RepositoryUnreadable(
                f"The tree has more than {MAX_FILES:,} files.",
                hint="This looks like a repository made to exhaust memory; Forge does not unfold it.",
            )
    for path, new in wanted.pending.items():
        found.files.pop(path, None)
        if new is not None:
            found.files[path] = new.entry
    return found


def complaint(path: str, entry: Entry) -> str:
    """Why an entry is not put into a directory; symlinks are judged elsewhere, all together."""
    if len(path) * 4 > paths.MAX_PATH_BYTES and len(trees.encode(path)) > paths.MAX_PATH_BYTES:
        return _TOO_LONG
    if path.count("/") > MAX_DEPTH:
        return _TOO_DEEP
    if entry.is_submodule:
        return SUBMODULE
    if not entry.is_symlink and not stat.S_ISREG(entry.mode):
        return f"an entry of unknown mode {entry.mode:o}"
    return ""


def reachable(path: str) -> str:
    """`path`, or the folder on its way below which nothing can belong to a directory."""
    return path if path.count("/") <= MAX_DEPTH else "/".join(path.split("/", MAX_DEPTH + 1)[:-1])


def path_complaint(path: str) -> str:
    return next((why for name in path.split("/") if (why := name_complaint(name))), "")


def name_complaint(name: str) -> str:
    if name in ("", ".", "..") or "/" in name:
        return "a name that no file can have"
    # Telling `.git` in all its spellings is slow; names without these letters in ASCII are none of them.
    if not (name.isascii() and "git" not in name.lower()) and paths.is_git_directory(name):
        return "a name that leads into a git directory"
    if len(name) * 4 > paths.MAX_NAME_BYTES and len(trees.encode(name)) > paths.MAX_NAME_BYTES:
        return _TOO_LONG
    return ""
