"""The door to the memory of a directory: a project's, a repository's, or any other."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from forge.errors import InvalidInput, NotFound
from forge.memory import (
    Caution,
    Entry,
    Initiative,
    Memory,
    MilestoneStatus,
    NoteKind,
    Recalled,
    Resumed,
    Source,
    Status,
    UpdateResult,
)
from forge.memory.claims import disagrees
from forge.memory.read_order import time_ago
from forge.memory.values import moment
from forge.sessions.redaction import Redactor

__all__ = [
    "Caution",
    "Entry",
    "Initiative",
    "Memory",
    "MilestoneStatus",
    "NoteKind",
    "Recalled",
    "Resumed",
    "UpdateResult",
    "moment",
    "time_ago",
]


def open_memory(directory: Path, *, secrets: Iterable[str] = ()) -> Memory:
    """`secrets` are never written, whoever says them."""
    if not directory.is_dir():
        raise NotFound(f"There is no directory {directory}.", hint="Name one that exists: -C DIR.")
    return Memory(directory, redactor=Redactor(secrets))


def status_named(word: str) -> Status:
    try:
        return Status(word)
    except ValueError as e:
        known = ", ".join(Status)
        raise InvalidInput(f"There is no status {word!r}.", hint=f"There are {known}.") from e


def add(memory: Memory, text: str, kind: NoteKind, *, step: str | None = None) -> UpdateResult:
    match kind:
        case NoteKind.LEARNING:
            return memory.learn(text, step=step)
        case NoteKind.DELEGATION:
            return memory.delegate(text, step=step)
        case NoteKind.CHECKPOINT | NoteKind.COMPLETION:
            raise InvalidInput(
                f"{kind.value} are written by the workflow itself.", hint="Advance or complete the initiative."
            )


def disagreeing(recalled: Recalled) -> tuple[Source, ...]:
    """The sources that tell another story than the one that rules."""
    if recalled.initiative is None:
        return ()
    told = (claim for claim in recalled.claims if claim.source is not Source.SCAN)
    return tuple(claim.source for claim in told if disagrees(claim, recalled.initiative))
