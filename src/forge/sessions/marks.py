"""What a person marked in the context of a branch: kept beside the branch until a turn or a save takes it along.

A mark is no commit. It is a file next to the operation log, so that every process sees it and a restart loses nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from forge.git.process import disk
from forge.json_value import Json
from forge.sessions.head import ActiveFile, Head, active_from_json, active_json
from forge.sessions.layout import pending_marks


@dataclass(frozen=True, slots=True)
class Marks:
    add: tuple[ActiveFile, ...] = ()
    remove: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.add or self.remove)

    def applied(self, head: Head) -> Head:
        """The head with these files in context and out of it. What was never put in is switched off."""
        active = {file.path: file for file in head.active_files}
        off = dict.fromkeys(head.off)
        for path in self.remove:
            if active.pop(path, None) is None:
                off[path] = None
        for file in self.add:
            if file.path in off:
                del off[file.path]
                if not file.ranges and file.path not in active:
                    continue
            active[file.path] = file
        return replace(head, active_files=tuple(active.values()), off=tuple(off))

    def to_json(self) -> Json:
        return {"add": [active_json(file) for file in self.add], "remove": list(self.remove)}

    @classmethod
    def from_json(cls, data: Json) -> Marks:
        return cls(tuple(map(active_from_json, data["add"])), tuple(map(str, data["remove"])))


def marks_of(common_dir: Path, branch: str) -> Marks:
    try:
        name, data = json.loads(pending_marks(common_dir, branch).read_bytes())
        return Marks.from_json(data) if name == branch else Marks()
    except (OSError, ValueError, TypeError, KeyError):
        return Marks()  # none, or a file damaged by a power cut


def mark(common_dir: Path, branch: str, *, add: Sequence[ActiveFile] = (), remove: Sequence[str] = ()) -> Marks:
    """Put files into the context and take others out; the last word on each path counts."""
    with _changing(common_dir):
        found = marks_of(common_dir, branch)
        named = {*(file.path for file in add), *remove}
        wanted = Marks(
            (*(file for file in found.add if file.path not in named), *add),
            (*(path for path in found.remove if path not in named), *remove),
        )
        _write(common_dir, branch, wanted)
    return wanted


def take(common_dir: Path, branch: str, taken: Marks) -> None:
    """A commit has these now; what was marked meanwhile stays."""
    with _changing(common_dir):
        found = marks_of(common_dir, branch)
        left = Marks(
            tuple(file for file in found.add if file not in taken.add),
            tuple(path for path in found.remove if path not in taken.remove),
        )
        _write(common_dir, branch, left)


def copy_marks(common_dir: Path, source: str, name: str) -> None:
    with _changing(common_dir):
        _write(common_dir, name, marks_of(common_dir, source))


def move_marks(common_dir: Path, old: str, new: str) -> None:
    with _changing(common_dir):
        _write(common_dir, new, marks_of(common_dir, old))
        _write(common_dir, old, Marks())


def drop_marks(common_dir: Path, branch: str) -> None:
    with _changing(common_dir):
        _write(common_dir, branch, Marks())


@contextmanager
def _changing(common_dir: Path) -> Iterator[None]:
    folder = pending_marks(common_dir, "").parent
    with disk.reporting():
        folder.mkdir(parents=True, exist_ok=True)
        with disk.locked(folder / ".lock"):
            yield


def _write(common_dir: Path, branch: str, marks: Marks) -> None:
    path = pending_marks(common_dir, branch)
    if marks:
        disk.replace_synced(path, json.dumps([branch, marks.to_json()]).encode())
    else:
        path.unlink(missing_ok=True)
