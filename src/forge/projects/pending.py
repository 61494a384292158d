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
        refs.move([move], actor=PERSON, reason="finished after a crash", forward=True, placed=True)
    forget(repository)
    return [path for path, _, _ in changes]


def place(repository: Repository, root: Path, pending: PendingRecord) -> None:
    """Put the files of the write into the directory, each in one moment, except where a person has changed one since.

    Not synced; until that is done the note stays.
    """
    for path, old, new in _changes(repository, pending):
        there = files.found(root, path)
        if _entry(there) != old or (there is None and os.path.lexists(root / path)):
            continue
        if new is None:
            files.remove(root, path)
            continue
        content = OnDisk(new.mode, repository.objects.blob(new.id))
        with suppress(FileExistsError, NotADirectoryError):  # a person put a file where its folder was
            files.replace(root, path, content, scratch=repository.objects.scratch)


def give_up(repository: Repository, root: Path, pending: PendingRecord) -> None:
    """Take a failed write back as far as it got, or finish it where the branch could not be moved back.

    If neither can be done now, the note stays for whoever opens the project next.
    """
    tip, objects = repository.refs.tip(pending.branch), repository.objects
    if tip == pending.commit:
        finish(repository, root, pending)
    elif objects.has(pending.commit):
        tree = objects.commit(tip).tree if tip else EMPTY_TREE
        # A commit that somebody's git made meanwhile may have some of the files as they are now.
        placed = [(path, old) for path, old, new in _changes(repository, pending) if _is(root, path, new)]
        back = [(path, old) for path, old in placed if objects.entry(tree, path) == old]
        for path, old in sorted(back, key=lambda item: item[1] is not None):
            _put(repository, root, path, old)
        if back:
            align(repository, tip)
    forget(repository)


def _changes(repository: Repository, pending: PendingRecord) -> list[tuple[str, Entry | None, Entry | None]]:
    """What goes comes first: it makes room, where a file becomes a folder or the other way round."""
    objects = repository.objects
    before = objects.commit(pending.parent).tree if pending.parent else EMPTY_TREE
    found = changed_entries(objects, before, objects.commit(pending.commit).tree)
    return sorted(found, key=lambda change: change[2] is not None)


def _bring(
    repository: Repository, root: Path, path: str, old: Entry | None, new: Entry | None, *, under_way: bool
) -> None:
    there = files.found(root, path)
    here = _entry(there)
    if here == new or (there is None and os.path.lexists(root / path)):
        return
    wanted = repository.objects.blob(new.id) if new else None
    # After a power cut a file may be cut off; gone it can be only while the write was under way.
    torn = wanted is not None and (under_way if there is None else wanted.startswith(there.data))
    if here != old and not torn:
        return
    with suppress(FileExistsError, NotADirectoryError):  # a person put a file where its folder was
        _put(repository, root, path, new)


def _put(repository: Repository, root: Path, path: str, entry: Entry | None) -> None:
    if entry is None:
        files.remove(root, path)
    else:
        content = OnDisk(entry.mode, repository.objects.blob(entry.id))
        files.put(root, path, content, scratch=repository.objects.scratch)


def _is(root: Path, path: str, entry: Entry | None) -> bool:
    return _entry(files.found(root, path)) == entry


def _entry(content: OnDisk | None) -> Entry | None:
    return content.entry if content else None


def _place(repository: Repository) -> Path:
    return repository.common_dir / FILE
