"""Drafts: changes that somebody outside Forge collects before one commit, each under a ref of its own.

A draft is a commit on its base. Its message says which branch it is for, whose it is and who writes it; no branch
points at it. Whoever saves a draft compares and swaps its ref, so two calls at once lose nothing.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.errors import Conflict
from forge.git.errors import BranchExists, BranchMoved, RefLocked
from forge.git.objects import commits
from forge.git.refs.operations.operation import RefMove
from forge.git.values import Actor, Commit, CommitId, ObjectId, Signature

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.objects.raw_object import RawObject
    from forge.git.refs.ref_store import Refs
    from forge.git.workspace.work_in_progress import WorkInProgressVFS

FOLDER = "refs/forge/drafts/"
KEPT_SECONDS = 14 * 86_400.0
"""A draft that nobody changes for so long is removed."""
_ID = re.compile(r"[0-9a-f]{8}", re.ASCII)
_ABOUT = "Forge-Draft-For"


class DraftChanged(Conflict):
    """Another call changed the draft meanwhile."""

    code = "draft_changed"


@dataclass(frozen=True, slots=True)
class Draft:
    id: str
    branch: str
    base: CommitId | None
    commit: CommitId
    owner: str
    """The id of the user whose draft it is."""
    agent: str
    """The program that writes it."""
    changed: float


def new_id(refs: Refs) -> str:
    while refs.target(FOLDER + (made := os.urandom(4).hex())) is not None:
        pass
    return made


def save(refs: Refs, vfs: WorkInProgressVFS, id_: str, *, owner: str, agent: str, before: CommitId | None) -> Draft:
    """Make what is pending durable under the draft's ref, which must still be at `before`."""
    about = json.dumps({"branch": vfs.branch, "owner": owner, "agent": agent})
    text = commits.message_with("draft", {_ABOUT: about})
    made, new = vfs.draft(text, Signature(agent, "agent@forge.invalid"))
    if made != before:
        with vfs.objects.writing(new):
            _moved(refs, RefMove(FOLDER + id_, before, made), vfs.actor, "save a draft", written=new)
    return Draft(id_, vfs.branch, vfs.base, made, owner, agent, time.time())


def find(objects: Objects, refs: Refs, id_: str) -> Draft | None:
    """None where there is none of this id, or it is not a draft that Forge wrote."""
    if not _ID.fullmatch(id_) or (tip := refs.target(FOLDER + id_)) is None:
        return None
    return _read(id_, objects.commit(tip))


def listed(objects: Objects, refs: Refs) -> Iterator[Draft]:
    for ref, tip in refs.under(FOLDER):
        if (found := _read(ref.removeprefix(FOLDER), objects.commit(tip))) is not None:
            yield found


def forget(refs: Refs, draft: Draft, actor: Actor) -> None:
    _moved(refs, RefMove(FOLDER + draft.id, draft.commit, None), actor, "forget a draft")


def outdated(objects: Objects, refs: Refs, *, now: float) -> tuple[Draft, ...]:
    """Drafts that nobody changed for `KEPT_SECONDS`."""
    return tuple(each for each in listed(objects, refs) if now - each.changed > KEPT_SECONDS)


def _moved(
    refs: Refs, move: RefMove, actor: Actor, reason: str, written: Mapping[ObjectId, RawObject] | None = None
) -> None:
    try:
        refs.move([move], actor=actor, reason=reason, forward=True, written=written or {})
    except (BranchMoved, BranchExists, RefLocked) as e:
        raise DraftChanged("Another call changed this draft meanwhile.", hint="Call again.") from e


def _read(id_: str, commit: Commit) -> Draft | None:
    try:
        about = json.loads(commits.trailer(commit.message, _ABOUT) or "")
        branch, owner, agent = str(about["branch"]), str(about["owner"]), str(about["agent"])
    except (ValueError, TypeError, KeyError):
        return None
    base = commit.parents[0] if commit.parents else None
    return Draft(id_, branch, base, commit.id, owner, agent, float(commit.committer.time))
