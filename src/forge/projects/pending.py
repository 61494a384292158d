"""A write that is under way: noted before it starts, so that whoever opens the project after a crash ends it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from forge.git import PERSON, CommitId, Entry, RefMove, Repository
from forge.git.objects.tree_diff import changed_entries
from forge.git.process import disk
from forge.git.values import EMPTY_TREE
from forge.projects import files
from forge.projects.files import OnDisk
from forge.projects.index import align

FILE = "forge/records-pending"


@dataclass(frozen=True, slots=True)
class PendingRecord:
    """A commit of Forge's own that `branch` is to go to, with the directory, from `parent`."""

    branch: str
    commit: CommitId
    parent: CommitId | None


def note(repository: Repository, pending: PendingRecord) -> None:
    record = {"branch": pending.branch, "commit": pending.commit, "parent": pending.parent}
    _place(repository).parent.mkdir(parents=True, exist_ok=True)
    disk.replace_synced(_place(repository), json.dumps(record).encode())


def forget(repository: Repository) -> None:
    """Not synced: a note that comes back with the power finds its write done."""
    _place(repository).unlink(missing_ok=True)


def noted(repository: Repository) -> PendingRecord | None:
    try:
        record = json.loads(_place(repository).read_bytes())
        return PendingRecord(str(record["branch"]), CommitId(record["commit"]), record["parent"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        # Replaced in one moment, it is never half a note of ours; nothing can follow from it.
        return PendingRecord("", CommitId(""), None)


def exists(repository: Repository) -> bool:
    return os.path.lexists(_place(repository))


def finish(repository: Repository, root: Path, pending: PendingRecord) -> list[str]:
    """Bring directory and branch to where the write was going. Gives the paths it was about.

    The objects of a commit are durable before anything else is touched: without it nothing has happened. What is in
    the directory and neither old nor new is a person's edit since, and stays.
    """
    refs = repository.refs
    tip = refs.tip(pending.branch) if pending.branch else None
    if not pending.branch or tip not in (pending.parent, pending.commit) or not repository.objects.has(pending.commit):
        forget(repository)
        return []
    changes = _changes(repository, pending)
    for path, old, new in changes:
        _bring(repository, root, path, old, new, under_way=tip == pending.parent)
    align(repository, pending.commit)
    if tip == pending.parent:
        move = RefMove(f"refs/heads/{pending.branch}", pending.parent, pending.commit)
        refs.move([move], actor=PERSON, reason="finished after a crash", forward=True, partly=False)
    forget(repository)
    return [path for path, _, _ in changes]


def give_up(repository: Repository, root: Path, pending: PendingRecord) -> None:
    """Take a failed write back as far as it got, or finish it where the branch could not be moved back.

    If neither can be done now, the note stays for whoever opens the project next.
    """
    tip = repository.refs.tip(pending.branch)
    if tip == pending.commit:
        finish(repository, root, pending)
    elif tip == pending.parent and repository.objects.has(pending.commit):
        back = [(path, old) for path, old, new in _changes(repository, pending) if _is(root, path, new)]
        for path, old in back:
            _put(repository, root, path, old)
        if back:
            align(repository, pending.parent)
    forget(repository)


def shown(repository: Repository, root: Path, pending: PendingRecord) -> bool:
    """Whether the directory has everything of the commit."""
    return all(_is(root, path, new) for path, _, new in _changes(repository, pending))


def _changes(repository: Repository, pending: PendingRecord) -> list[tuple[str, Entry | None, Entry | None]]:
    objects = repository.objects
    before = objects.commit(pending.parent).tree if pending.parent else EMPTY_TREE
    return list(changed_entries(objects, before, objects.commit(pending.commit).tree))


def _bring(
    repository: Repository, root: Path, path: str, old: Entry | None, new: Entry | None, *, under_way: bool
) -> None:
    there = files.found(root, path)
    here = _entry(there)
    if here == new or (there is None and os.path.lexists(root / path)):
        return
    wanted = repository.objects.blob(new.id) if new else None
    # git removes a file before it writes the new one: it may be gone or cut off, but only while it was at work.
    torn = wanted is not None and (under_way if there is None else wanted.startswith(there.data))
    if here != old and not torn:
        return
    with suppress(FileExistsError, NotADirectoryError):  # a person put a file where its folder was
        _put(repository, root, path, new)


def _put(repository: Repository, root: Path, path: str, entry: Entry | None) -> None:
    if entry is None:
        files.remove(root, path)
    else:
        files.put(root, path, OnDisk(entry.mode, repository.objects.blob(entry.id)))


def _is(root: Path, path: str, entry: Entry | None) -> bool:
    return _entry(files.found(root, path)) == entry


def _entry(content: OnDisk | None) -> Entry | None:
    return content.entry if content else None


def _place(repository: Repository) -> Path:
    return repository.common_dir / FILE
