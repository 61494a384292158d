"""What people changed in a project directory since its last commit, found by stat first and by content where needed."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from forge.git import CommitId, Entry, Repository
from forge.git.errors import GitFailed
from forge.git.values import EMPTY_TREE
from forge.projects import files
from forge.projects.files import Mark, OnDisk
from forge.projects.index import align

MAX_FILE_BYTES = 50 << 20
# A file that changed so shortly before it was looked at may change again without its times showing it.
_RACY_NS = 2_000_000_000
_STATUS = ("status", "-z", "--porcelain", "--no-renames", "--untracked-files=all", "--ignore-submodules=all")


@dataclass(frozen=True, slots=True)
class Differences:
    """New content by path, None where a file is gone; and by path a sentence about what is not taken in."""

    changed: Mapping[str, OnDisk | None]
    left_out: Mapping[str, str]


_NONE = Differences({}, {})


class Directory:
    """Remembers how the directory looked when it was last known to show the tip."""

    def __init__(self, root: Path, repository: Repository) -> None:
        self._root = root
        self._repository = repository
        self._objects = repository.objects
        self._tip: CommitId | None = None
        self._seen: dict[str, Mark] = {}
        self._fresh: set[str] = set()
        self._unwatched: set[str] = set()
        """Files that git ignores."""

    def differences(self, tip: CommitId | None) -> Differences:
        """What differs from `tip`: cheap when nothing was touched since the last look."""
        looked, now = time.time_ns(), files.marks(self._root)
        if tip is not None and tip == self._tip and self._as_before(now, looked):
            return _NONE
        self._tip = None
        candidates = self._candidates(tip)
        found = self._compared(tip, candidates)
        if not found.changed and tip is not None:
            if set(candidates) - found.left_out.keys():
                align(self._repository, tip)
            self._remember(tip, now, looked, found)
        return found

    def wrote(self, before: CommitId | None, tip: CommitId, paths: list[str]) -> None:
        """The directory went from `before` to `tip` by our own writing of `paths`."""
        if before is None or before != self._tip:
            self._tip = None
            return
        self._tip = tip
        for path in paths:
            self._seen.pop(path, None)
            if os.path.lexists(self._root / path):
                self._seen[path] = files.mark(os.lstat(self._root / path))
        self._fresh |= set(paths)
        self._unwatched -= set(paths)

    def _as_before(self, now: Mapping[str, Mark], looked: int) -> bool:
        if any(self._seen.get(path) != mark for path, mark in now.items() if path not in self._unwatched):
            return False
        if any(path not in now for path in self._seen if path not in self._unwatched):
            return False
        for path in list(self._fresh):
            if self._in_tip(path) != _entry(files.found(self._root, path)):
                return False
            if path not in now or now[path][3] < looked - _RACY_NS:
                self._fresh.discard(path)
        return True

    def _remember(self, tip: CommitId, now: dict[str, Mark], looked: int, found: Differences) -> None:
        tracked = set(self._objects.paths(self._objects.commit(tip).tree)) - found.left_out.keys()
        self._tip, self._seen = tip, now
        self._unwatched = now.keys() - tracked - found.left_out.keys()
        self._fresh = {path for path in tracked & now.keys() if now[path][3] > looked - _RACY_NS}

    def _candidates(self, tip: CommitId | None) -> list[str]:
        """Paths at which directory, index or tip disagree; a repository inside ends with a slash."""
        git = self._objects.git
        try:
            lines = git.run(*_STATUS, work_tree=self._root).stdout
        except GitFailed:
            # An index that a power cut tore is only a memory of what tip and directory say.
            align(self._repository, tip, afresh=True)
            lines = git.run(*_STATUS, work_tree=self._root).stdout
        return sorted(os.fsdecode(line[3:]) for line in lines.split(b"\0") if line)

    def _compared(self, tip: CommitId | None, candidates: list[str]) -> Differences:
        changed: dict[str, OnDisk | None] = {}
        left_out: dict[str, str] = {}
        for path in candidates:
            if path.endswith("/"):
                left_out[path] = f"{path} is a repository of its own and is not kept in the project's history."
            elif _size(self._root / path) > MAX_FILE_BYTES:
                left_out[path] = f"{path} is larger than 50 MB and is not kept in the project's history."
            else:
                content = files.found(self._root, path)
                if _entry(content) != self._in_tip(path, tip):
                    changed[path] = content
        return Differences(changed, left_out)

    def _in_tip(self, path: str, tip: CommitId | None = None) -> Entry | None:
        tip = tip or self._tip
        entry = self._objects.entry(self._objects.commit(tip).tree if tip else EMPTY_TREE, path)
        return entry if entry is not None and not entry.is_tree else None


def _entry(content: OnDisk | None) -> Entry | None:
    return content.entry if content else None


def _size(place: Path) -> int:
    try:
        return os.lstat(place).st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0
