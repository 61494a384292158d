"""Branches whose `.forge/session.json` still has the first format, and one commit on each that ends that.

Two such branches have different bytes at one path: plain git stops at it, and nobody but git is asked there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from forge.errors import ForgeError
from forge.git import PERSON, Actor, CommitId, Repository, Signature
from forge.sessions.migration import has_first_format, take_second_format

_MESSAGE = """session: let plain git merge this branch

.forge/session.json now has the same bytes on every branch. The turns stay where they are.
"""


@dataclass(frozen=True, slots=True)
class Migrated:
    branch: str
    state: Literal["migrated", "left", "would_migrate"]
    commit: CommitId | None = None
    reason: str = ""
    """Why it was left as it is."""


def unmigrated(repo: Repository) -> tuple[str, ...]:
    """Their names, without branches that cannot be read."""
    found = [branch for branch in repo.branches() if branch.tip is not None and not branch.damage]
    return tuple(each.name for each in found if has_first_format(repo.objects, each.tip))


def migrate(
    repo: Repository, *, preview: bool = False, actor: Actor = PERSON, author: Signature | None = None
) -> tuple[Migrated, ...]:
    """One commit on each such branch, the default branch among them. One that cannot be changed hinders no other."""
    names = unmigrated(repo)
    if preview:
        return tuple(Migrated(name, "would_migrate") for name in names)
    return tuple(_migrated(repo, name, actor, author) for name in names)


def _migrated(repo: Repository, name: str, actor: Actor, author: Signature | None) -> Migrated:
    try:
        files = repo.workspace(name, actor=actor.doing("session.migrate", name))
        if not take_second_format(files):
            return Migrated(name, "left", files.base, "It has the new format by now.")
        return Migrated(name, "migrated", files.commit(_MESSAGE, author))
    except ForgeError as e:
        return Migrated(name, "left", None, e.message)
