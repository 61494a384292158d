"""Where WORKFLOW-STATUS.yaml is: in the directory itself, or in the folder of an initiative under way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from forge.memory.values import Initiative, Source

_ROOT = Source.WORKFLOW_STATUS.value
_MOST_FOLDERS = 200


@dataclass(frozen=True, slots=True)
class StatusFile:
    """`initiative` is None for a file that tells of none; `before` is its text."""

    path: str
    initiative: Initiative | None
    before: str

    @property
    def folder(self) -> str:
        """The folder of one initiative; empty for the file of the directory itself."""
        return "" if self.path == _ROOT else Path(self.path).parent.name

    def tells_of(self, value: Initiative) -> bool:
        """Whether it is a file of this initiative: by id, else by its name or the name of its folder."""
        own = self.initiative
        if own is None:
            return False
        if own.id and value.id and own.id == value.id:
            return True
        names = {_slug(own.title or self.folder), _slug(self.folder), own.id}
        return bool({_slug(value.title), value.id} & (names - {""}))


def status_paths(directory: Path) -> Iterator[str]:
    """Every place that may hold one; the directory's own comes first."""
    yield _ROOT
    try:
        folders = sorted(each.name for each in (directory / Source.SCAN.value).iterdir() if each.is_dir())
    except OSError:  # no such folder, or none that can be read: there is nothing to follow
        return
    for name in folders[:_MOST_FOLDERS]:
        if (directory / Source.SCAN.value / name / _ROOT).exists():
            yield f"{Source.SCAN.value}/{name}/{_ROOT}"


def followed(files: Sequence[StatusFile], current: Initiative | None) -> list[StatusFile]:
    """The directory's own, and those of the initiative that L1 names; without L1 the newest that is not over."""
    own = [each for each in files if each.path == _ROOT]
    rest = [each for each in files if each.path != _ROOT and each.initiative is not None]
    if current is None:
        current = next((each.initiative for each in own if each.initiative is not None), None)
    if current is not None:
        return [*own, *(each for each in rest if each.tells_of(current))]
    running = {
        each.path: each.initiative.updated for each in rest if each.initiative and not each.initiative.status.over
    }
    newest = max(running, key=lambda path: (running[path], path), default="")
    return [*own, *(each for each in rest if each.path == newest)]


def written_to(files: Sequence[StatusFile], value: Initiative) -> list[StatusFile]:
    """The files that must tell of `value`: never one of another initiative."""
    chosen = [each for each in files if each.path == _ROOT or each.tells_of(value)]
    return chosen or [StatusFile(_ROOT, None, "")]


def _slug(name: str) -> str:
    return re.sub(r"[\W_]+", "-", name.casefold()).strip("-")
