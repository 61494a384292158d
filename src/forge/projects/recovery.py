"""Files with a form that are broken or gone: the last good version comes back, the broken bytes stay beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from forge.git import CommitId, Repository
from forge.projects import formats
from forge.projects.files import OnDisk

Contents = dict[str, OnDisk | None]


@dataclass(frozen=True, slots=True)
class Restoration:
    """What to commit, what to put into the directory (None: nothing good was found), and what to tell."""

    kept: Mapping[str, str | bytes | None]
    good: bytes | None
    message: str
    sentence: str


def sorted_out(changed: Mapping[str, OnDisk | None]) -> tuple[Contents, Contents]:
    """A person's edits, and files that cannot be what they must be."""
    edits: Contents = {}
    broken: Contents = {}
    for path, content in changed.items():
        bad = formats.has_form(path) and (content is None or formats.complaint(path, content.data))
        (broken if bad else edits)[path] = content
    return edits, broken


def plan(repository: Repository, tip: CommitId | None, path: str, content: OnDisk | None) -> Restoration:
    why = "was missing" if content is None else f"could not be read ({formats.complaint(path, content.data)})"
    good, latest = _last_good(repository, tip, path)
    kept: dict[str, str | bytes | None] = {}
    beside = ""
    if content is not None:
        name, there = _beside(repository, tip, path, content.data)
        beside = f" Its broken content is kept in {name}."
        kept = {} if there else {name: content.data}
    if not latest:
        kept[path] = good
    outcome = "was restored from history" if good is not None else "is gone, for history has no good version of it"
    sentence = f"{path} {why}; it {outcome}.{beside}"
    return Restoration(kept, good, f"recover: {path}\n\n{sentence}", sentence)


def _last_good(repository: Repository, tip: CommitId | None, path: str) -> tuple[bytes | None, bool]:
    """The newest version that can be read, and whether that is the one of `tip`."""
    objects = repository.objects
    commit_id, looked_at = tip, set[str]()
    while commit_id is not None:
        commit = objects.commit(commit_id)
        entry = objects.entry(commit.tree, path)
        if entry is not None and not entry.is_tree and entry.id not in looked_at:
            looked_at.add(entry.id)
            data = objects.blob(entry.id)
            if not formats.complaint(path, data):
                return data, commit_id == tip
        commit_id = commit.parents[0] if commit.parents else None
    return None, tip is None or objects.entry(objects.commit(tip).tree, path) is None


def _beside(repository: Repository, tip: CommitId | None, path: str, data: bytes) -> tuple[str, bool]:
    """A free name for broken bytes, or the one under which a crash left them a moment ago."""
    if tip is None:
        return f"{path}.broken-1", False
    view = repository.commit_vfs(tip)
    number = 1
    while view.entry(name := f"{path}.broken-{number}") is not None:
        if view.read_bytes(name) == data:
            return name, True
        number += 1
    return name, False
