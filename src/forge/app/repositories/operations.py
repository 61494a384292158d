"""What moved branches, newest first, and taking it back. Nothing is lost by that: undone tips stay reachable."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import dropwhile, islice
from typing import TYPE_CHECKING

from forge.app.repositories.catalog import actor_of, kept_edits, repository
from forge.app.values.pages import Page, checked, unreadable
from forge.git import PERSON, Actor, ActorKind, Operation, RefMove, Repository

if TYPE_CHECKING:
    from forge.app.access.identity import Who
    from forge.app.process.workshop import Workshop

__all__ = ["Actor", "ActorKind", "Operation", "RefMove"]

_OWN = "refs/forge/"


@dataclass(frozen=True, slots=True)
class Move:
    """None before: the ref was made. None after: it was removed."""

    ref: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class OperationEntry:
    id: str
    time: float
    actor: str
    actor_kind: ActorKind
    reason: str
    moves: tuple[Move, ...]
    """Of branches; what Forge keeps for itself is left out."""
    undoes: str | None
    kept_edits: tuple[str, ...] = ()
    """Sentences about uncommitted files in people's checkouts that are based on the older text."""


def list_operations(
    shop: Workshop, who: Who, repo_id: str, *, after: str | None = None, limit: int = 50
) -> Page[OperationEntry]:
    """`after` is the id of the last one that is known."""
    count = checked(limit)
    repo = repository(shop, who, repo_id)
    all_of_them = repo.operations()
    if after is not None:
        all_of_them = dropwhile(lambda each: each.id != after, all_of_them)
        if next(all_of_them, None) is None:
            raise unreadable(after)
    found = tuple(map(entry_of, islice(all_of_them, count + 1)))
    return Page(found[:count], found[count - 1].id if len(found) > count else None)


def undo_operation(shop: Workshop, who: Who, repo_id: str, operation_id: str | None = None) -> OperationEntry:
    """Take back the one named, else the last one that is not undone yet."""
    repo = repository(shop, who, repo_id, "write")
    undone = undo(repo, operation_id, actor=actor_of(who))
    shop.feed.publish(repo)
    return entry_of(undone)


# On an open repository


def newest(repo: Repository, count: int) -> list[Operation]:
    return list(islice(repo.operations(), count))


def undo(repo: Repository, operation_id: str | None = None, *, actor: Actor = PERSON) -> Operation:
    return repo.undo(operation_id, actor=actor.doing("operation.undo", ""))


def entry_of(operation: Operation) -> OperationEntry:
    moves = tuple(Move(each.ref, each.before, each.after) for each in operation.moves if not each.ref.startswith(_OWN))
    by = operation.actor
    return OperationEntry(
        operation.id, operation.time, by.name, by.kind, operation.reason, moves, operation.undoes, kept_edits(operation)
    )
