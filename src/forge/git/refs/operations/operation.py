"""Operations: what moved, who did it and why, as values; and the refusal of a move that comes too late."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.git.errors import BranchExists, BranchMoved
from forge.git.values import Actor, ActorKind, CommitId

if TYPE_CHECKING:
    from forge.errors import Conflict
    from forge.git.checkout.checkout_update import CheckoutUpdate

_OUTSIDE = Actor(ActorKind.EXTERNAL, "outside Forge")


@dataclass(frozen=True, slots=True)
class RefMove:
    """None before: the ref is made. None after: it is removed."""

    ref: str
    before: CommitId | None
    after: CommitId | None


@dataclass(frozen=True, slots=True)
class Operation:
    id: str
    time: float
    actor: Actor
    reason: str
    moves: tuple[RefMove, ...]
    undoes: str | None = None
    checkouts: tuple[CheckoutUpdate, ...] = ()
    """What became of the person's own checkouts; known only to the caller that made the operation."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A process's word that it was about to move a ref."""

    mark: str
    time: float
    after: CommitId | None


def new_operation(actor: Actor, reason: str, moves: Iterable[RefMove], *, undoes: str | None = None) -> Operation:
    """An operation that is about to happen, under an id of its own."""
    return Operation(f"{time.time_ns():016x}{secrets.token_hex(3)}", time.time(), actor, reason, tuple(moves), undoes)


def noticed(moves: Iterable[RefMove]) -> Operation:
    """Moves that somebody made without Forge, as one operation."""
    return new_operation(_OUTSIDE, "moved outside Forge", moves)


def moved(move: RefMove) -> Conflict:
    """The error for a move whose ref is not where the caller read it."""
    name = move.ref.removeprefix("refs/heads/").removeprefix("refs/forge/kept/")
    if move.before is None and move.ref.startswith("refs/heads/"):
        return BranchExists(f"{name} exists already.", hint="Choose another name, or open the existing branch.")
    return BranchMoved(
        f"{name} has moved since it was read; nothing was overwritten.",
        hint="Read the branch again and repeat the change on its new tip.",
    )
