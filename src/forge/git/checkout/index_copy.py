"""The index of a checkout, changed as a copy under git's own lock and put in place at once."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from forge.git.errors import IndexLocked
from forge.git.objects import trees
from forge.git.process.git_command import Git
from forge.git.values import Entry, ObjectId

if TYPE_CHECKING:
    from forge.git.checkout.worktrees import Worktree
    from forge.git.objects.object_store import Objects

# Editors run `git status` all the time; it holds the index for moments.
LOCK_PATIENCE = 0.5
_NO_ENTRY = f"0 {'0' * 40}"
_FLAGS: Mapping[str, Callable[[str], bool]] = {
    "assume-unchanged": lambda tag: tag.islower(),
    "skip-worktree": lambda tag: tag.upper() == "S",
}


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A line of the index. `tag` is git's letter: `S` is skip-worktree, a lower-case one assume-unchanged."""

    tag: str
    stage: int
    entry: Entry


def is_hidden(tag: str) -> bool:
    """Whether git does not look at the file."""
    return any(holds(tag) for holds in _FLAGS.values())


Entries = Mapping[str, tuple[IndexEntry, ...]]
"""By path; a file in conflict has several."""


@contextmanager
def locked_copy(objects: Objects, worktree: Worktree) -> Iterator[IndexCopy]:
    """Nobody else changes the index inside the block; `IndexCopy.replace_index` makes the copy the index."""
    lock = worktree.git_dir / "index.lock"
    held = _taken(lock, worktree)
    try:
        objects.scratch.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=objects.scratch, prefix="index-") as folder:
            copy = Path(folder) / "index"
            if (worktree.git_dir / "index").exists():
                # With its time: git trusts no file that is as new as the index.
                shutil.copy2(worktree.git_dir / "index", copy)
            yield IndexCopy(worktree, copy)
    finally:
        os.close(held)
        lock.unlink(missing_ok=True)


def _taken(lock: Path, worktree: Worktree) -> int:
    deadline = time.monotonic() + LOCK_PATIENCE
    while True:
        try:
            # Open as long as it is held: that is how a lock in use is distinguished from one that a crash left.
            return os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666)
        except FileExistsError as e:
            if time.monotonic() > deadline:
                raise index_locked(worktree) from e
        time.sleep(0.02)


def index_locked(worktree: Worktree) -> IndexLocked:
    return IndexLocked(
        f"Another git command has locked the index of your checkout {worktree.path}. Nothing was changed.",
        hint=f"Try again when it is done. If no git is running there, remove {worktree.git_dir / 'index.lock'}.",
    )


def sparse_patterns(worktree: Worktree) -> Path:
    return worktree.git_dir / "info" / "sparse-checkout"


class IndexCopy:
    def __init__(self, worktree: Worktree, file: Path) -> None:
        self._worktree = worktree
        self._file = file

    def git(self, *args: str, stdin: bytes = b"", ok: tuple[int, ...] = (0,)) -> bytes:
        env = {"GIT_INDEX_FILE": str(self._file)}
        return Git(self._worktree.git_dir).run(*args, stdin=stdin, ok=ok, env=env, work_tree=self._worktree.path).stdout

    def entries(self) -> Entries:
        found: dict[str, tuple[IndexEntry, ...]] = {}
        for line in _names(self.git("ls-files", "-z", "-v", "--stage")):
            facts, _, path = line.partition("\t")
            tag, mode, oid, stage = facts.split(" ")
            found[path] = (*found.get(path, ()), IndexEntry(tag, int(stage), Entry(int(mode, 8), ObjectId(oid))))
        return found

    def differing(self, tree: ObjectId) -> set[str]:
        """Paths at which a commit of this index would differ from `tree`."""
        options = ("-r", "-z", "--cached", "--name-only", "--no-renames", "--ita-invisible-in-index")
        return set(_names(self.git("diff-index", *options, "--ignore-submodules=none", tree)))

    def edited(self) -> set[str]:
        """Paths whose files are not what the index has, missing ones too."""
        self.git("update-index", "-q", "--refresh", ok=(0, 1))
        return set(_names(self.git("diff-files", "-z", "--name-only", "--ignore-submodules=all")))

    def put(self, changes: Mapping[str, Entry | None]) -> None:
        """Set or remove entries and keep the flags of those that stay. No file is looked at."""
        before = self.entries() if any(changes.values()) else {}
        self._info((f"{e.mode:o} {e.id}" if e else _NO_ENTRY, path) for path, e in changes.items())
        self.flag({path: before[path][0].tag for path, new in changes.items() if new and path in before})

    def flag(self, tags: Mapping[str, str]) -> None:
        for name, holds in _FLAGS.items():
            paths = [path for path, tag in tags.items() if holds(tag)]
            if paths:
                self.git("update-index", f"--{name}", "-z", "--stdin", stdin=_lines(paths))

    def outside_sparse(self, paths: Iterable[str]) -> set[str]:
        """Those of `paths` that a sparse checkout leaves out, if this is one."""
        patterns, asked = sparse_patterns(self._worktree), sorted(paths)
        if not asked or not patterns.exists():
            return set()
        if self.git("config", "--type=bool", "core.sparseCheckout", ok=(0, 1)).strip() != b"true":
            return set()
        apart = IndexCopy(self._worktree, self._file.with_name("sparse"))
        apart._info((f"100644 {'1' * 40}", path) for path in asked)
        inside = _names(apart.git("ls-files", "-z", "-c", "-i", f"--exclude-from={patterns}"))
        return set(asked) - set(inside)

    def put_conflicts(self, conflicts: Entries) -> None:
        self._info((f"{e.entry.mode:o} {e.entry.id} {e.stage}", path) for path in conflicts for e in conflicts[path])

    def _info(self, lines: Iterable[tuple[str, str]]) -> None:
        self.git("update-index", "-z", "--index-info", stdin=_lines(f"{facts}\t{path}" for facts, path in lines))

    def replace_index(self) -> None:
        os.replace(self._file, self._worktree.git_dir / "index")

    def restore(self, index: bytes) -> None:
        """Make the index what it was, byte for byte."""
        if index:
            self._file.write_bytes(index)
            self.replace_index()
        else:
            (self._worktree.git_dir / "index").unlink(missing_ok=True)


def _names(raw: bytes) -> list[str]:
    return [trees.decode(line) for line in raw.split(b"\0") if line]


def _lines(texts: Iterable[str]) -> bytes:
    return b"".join(trees.encode(text) + b"\0" for text in texts)
