"""What is remembered: initiatives, interviews, where a fact came from, and what a person should be told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of a source that names none: everything else is newer."""


class Status(StrEnum):
    CREATED = "created"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    COMPLETED = "completed"
    ARCHIVED = "archived"

    @property
    def over(self) -> bool:
        return self in (Status.COMPLETED, Status.ARCHIVED)


class MilestoneStatus(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


class Source(StrEnum):
    """Where a state was read, in the order of reading."""

    SESSION = "session"
    FILE = ".claude/initiative.json"
    NOTES = "MEMORY.md"
    WORKFLOW_STATUS = "WORKFLOW-STATUS.yaml"
    SCAN = "documentation/milestones/_active"


class NoteKind(StrEnum):
    """The kinds of line that Forge writes into MEMORY.md; the value is the heading they stand under."""

    LEARNING = "Learnings"
    CHECKPOINT = "Checkpoints"
    COMPLETION = "Completions"
    DELEGATION = "Delegations"


@dataclass(frozen=True, slots=True)
class Milestone:
    id: str
    title: str = ""
    status: MilestoneStatus = MilestoneStatus.PENDING
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of MEMORY.md that Forge wrote. `initiative` and `counter` say which state it tells of."""

    kind: NoteKind
    text: str
    at: datetime
    initiative: str = ""
    counter: int = 0
    phase: str = ""
    step: str = ""


@dataclass(frozen=True, slots=True)
class Owed:
    """What the last change still has to write below L1; empty as soon as that is done."""

    entries: tuple[Entry, ...] = ()
    workflow_status: bool = False

    def __bool__(self) -> bool:
        return bool(self.entries) or self.workflow_status


@dataclass(frozen=True, slots=True)
class Initiative:
    """The work under way. `counter` grows by one with each change, so that its order does not hang on clocks."""

    id: str
    title: str
    type: str
    status: Status = Status.CREATED
    phase: str = ""
    completed_phase: str = ""
    context: str = ""
    milestones: tuple[Milestone, ...] = ()
    milestone: str = ""
    reason: str = ""
    outcome: str = ""
    created: datetime = LONG_AGO
    updated: datetime = LONG_AGO
    counter: int = 0
    previous: tuple[str, ...] = ()
    """Ids of the initiatives before it in this directory, the last one last."""
    steps: tuple[str, ...] = field(default=(), repr=False)
    owed: Owed = field(default=Owed(), repr=False)
    other: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Keys of the file that are not ours; they are written back as they were."""


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure somebody was of a topic, from 0 to 1."""

    value: float
    source: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    history: tuple[Confidence, ...] = ()

    @property
    def confidence(self) -> float | None:
        return self.history[-1].value if self.history else None


@dataclass(frozen=True, slots=True)
class InterviewState:
    topics: tuple[Topic, ...] = ()
    updated: datetime = LONG_AGO
    counter: int = 0
    steps: tuple[str, ...] = field(default=(), repr=False)
    other: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Caution:
    """Something that went less well than it should, told instead of raised. `prominent`: work is not being saved."""

    code: str
    message: str
    hint: str = ""
    prominent: bool = False


def moment(value: datetime) -> str:
    """ISO 8601 in UTC, to the millisecond."""
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parsed_moment(text: object) -> datetime:
    """ValueError if it is no time. A time without a zone is taken as UTC."""
    value = text if isinstance(text, datetime) else datetime.fromisoformat(str(text))
    try:
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    except OverflowError as e:
        raise ValueError(f"{text} is outside of all calendars") from e


def one_line(text: str, most: int | None = None) -> str:
    """Text as a line of a file can hold it: no breaks, no control characters, at most `most` characters."""
    encodable = text.encode("utf-8", "replace").decode()
    words = re.sub("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]", "", encodable).split()
    line = " ".join(words)
    return line if most is None or len(line) <= most else f"{line[: most - 1]}…"
