"""What happened, as values: past tense, with the facts a face needs to redraw and nothing about how."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import ClassVar

from forge.json_value import Json

BOARD = "board"
"""The topic of what happens to projects and repositories as a whole."""


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events. `live` ones are pushed to whoever listens now and are not kept."""

    live: ClassVar[bool] = False
    type_name: ClassVar[str] = ""
    """The `type` of its JSON; empty takes the name of the class."""


@dataclass(frozen=True, slots=True)
class TurnStarted(Event):
    turn: str
    branch: str
    model: str


@dataclass(frozen=True, slots=True)
class TextStreamed(Event):
    """A piece of an answer as it comes; the whole of it follows in `ModelAnswered`."""

    turn: str
    text: str
    answer: int = 0
    """Which answer of the turn it is a piece of, from 1 on."""
    at: int = 0
    """How many characters of the answer were told before it."""
    live: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class TextRestarted(Event):
    """The pieces of the answer heard so far are void: it was broken off and begins again."""

    turn: str
    live: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class ModelRetryScheduled(Event):
    """A request to a model failed in a way that may pass; it is made again after `wait` seconds.

    In a turn, `turn` names it; in a project's own work, `project`. An agent program decides `wait` and `attempts`
    itself: they are None there.
    """

    model: str
    kind: str
    """`rate_limit`, `overloaded`, `server_error`, `network`, `timeout`, `cut_off` or `empty`."""
    attempt: int
    attempts: int | None
    wait: float | None
    text: str
    """All of it in words: `overloaded, retrying in 8 s (3 of 6)`."""
    turn: str = ""
    project: str = ""
    live: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class ModelAnswered(Event):
    turn: str
    text: str
    calls: tuple[str, ...]
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cost: float | None
    answer: int = 0
    """Which answer of the turn it is, from 1 on: pieces of it that come later are old."""


@dataclass(frozen=True, slots=True)
class ToolStarted(Event):
    turn: str
    call: str
    name: str
    about: str
    """The one argument that tells most, for a line on a screen."""


@dataclass(frozen=True, slots=True)
class ToolEnded(Event):
    turn: str
    call: str
    name: str
    failed: bool
    text: str
    """The first lines of what the model got."""


@dataclass(frozen=True, slots=True)
class ContextCompacted(Event):
    turn: str
    before_tokens: int
    after_tokens: int


@dataclass(frozen=True, slots=True)
class TurnCommitted(Event):
    turn: str
    branch: str
    commit: str
    files: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class TurnStopped(Event):
    """It ended without its changes; the conversation is kept in `commit` where that was possible."""

    turn: str
    branch: str
    reason: str
    message: str
    commit: str | None


@dataclass(frozen=True, slots=True)
class TurnSetAside(Event):
    """The branch moved from outside, so the turn's work was put on a branch of its own."""

    turn: str
    branch: str
    kept_on: str
    commit: str


@dataclass(frozen=True, slots=True)
class QuestionAsked(Event):
    question: str
    run: str
    text: str
    options: tuple[str, ...]
    expires: float | None
    kind: str = "text"
    """`text`, `choice` or `decision`: which answers it accepts."""


@dataclass(frozen=True, slots=True)
class QuestionClosed(Event):
    """Answered, timed out or cancelled."""

    question: str
    run: str
    how: str
    answer: str | None


@dataclass(frozen=True, slots=True)
class BranchChanged(Event):
    branch: str
    commit: str | None
    actor: str


@dataclass(frozen=True, slots=True)
class TestsStarted(Event):
    """The tests of the branch run; `pattern` selects some of them."""

    __test__: ClassVar[bool] = False

    run: str
    branch: str
    pattern: str


@dataclass(frozen=True, slots=True)
class TestsProgressed(Event):
    """The last line that a runner printed."""

    __test__: ClassVar[bool] = False

    run: str
    text: str
    live: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class TestsEnded(Event):
    """`outcome` is `passed`, `failed`, `cannot run`, `no tests` or `cancelled`; `error` says why a run has none."""

    __test__: ClassVar[bool] = False

    run: str
    branch: str
    commit: str | None
    outcome: str
    passed: int
    failed: int
    skipped: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class EnvironmentChanged(Event):
    """In the topic of a branch. While it is set up: which step of how many, and its command."""

    branch: str
    state: str
    step: int
    steps: int
    command: str


@dataclass(frozen=True, slots=True)
class RepositoryChanged(Event):
    """In the list of repositories: `what` is `added` or `forgotten`."""

    repository: str
    what: str
    name: str


@dataclass(frozen=True, slots=True)
class ProjectMoved(Event):
    """From one phase to another."""

    project: str
    before: str
    phase: str
    halt_reason: str | None


@dataclass(frozen=True, slots=True)
class ProjectChanged(Event):
    """As a whole: `what` is `created`, `renamed`, `archived`, `unarchived` or `deleted`."""

    project: str
    what: str
    name: str


@dataclass(frozen=True, slots=True)
class ProjectSaid(Event):
    """A message in a project's chat."""

    project: str
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class ProjectProgressed(Event):
    """A line on what is being done, for whoever watches."""

    project: str
    text: str


@dataclass(frozen=True, slots=True)
class NoteSaved(Event):
    """A person saved their note on a project. Its text is theirs and is not told."""

    project: str
    user: str
    version: int


@dataclass(frozen=True, slots=True)
class RoundFinished(Event):
    """One round of polishing: what it found, and what the guards made of it."""

    project: str
    iteration: int
    critical: int
    medium: int
    minor: int
    total: int
    guard: str
    outcome: str


@dataclass(frozen=True, slots=True)
class ContractSaved(Event):
    """A contract of a project has a new version; `origin` is `person` or `generated`."""

    project: str
    contract: str
    version: int
    commit: str
    origin: str


@dataclass(frozen=True, slots=True)
class ContractAnswersSaved(Event):
    """A person answered questions that contracts are written from; `questions` are their ids."""

    project: str
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContractProgress(Event):
    """How far a run is with the contract that it writes; tokens and cost are those of this contract so far."""

    project: str
    run: str
    contract: str
    number: int
    """Of `total` contracts that the run writes, from 1 on."""
    total: int
    state: str
    """`started`, `fetched`, `answered`, `refused`, `saved`, `draft`, `kept`, `failed` or `cancelled`."""
    about: str = ""
    """What was fetched, or why it ended so."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    turns: int = 0
    type_name: ClassVar[str] = "contract_progress"


@dataclass(frozen=True, slots=True)
class ContractAwaited(Event):
    """A sign of life, at least every ten seconds, while a run waits for the model that writes a contract."""

    project: str
    run: str
    contract: str
    seconds: float
    live: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Foreign(Event):
    """One that this version cannot read: a newer Forge on the same data wrote it. It is handed on unchanged."""

    data: str
    """Its JSON text."""


KINDS: dict[str, type[Event]] = {
    kind.type_name or kind.__name__: kind
    for kind in (
        TurnStarted,
        TextStreamed,
        TextRestarted,
        ModelRetryScheduled,
        ModelAnswered,
        ToolStarted,
        ToolEnded,
        ContextCompacted,
        TurnCommitted,
        TurnStopped,
        TurnSetAside,
        QuestionAsked,
        QuestionClosed,
        BranchChanged,
        TestsStarted,
        TestsProgressed,
        TestsEnded,
        EnvironmentChanged,
        RepositoryChanged,
        ProjectMoved,
        ProjectChanged,
        ProjectSaid,
        ProjectProgressed,
        NoteSaved,
        RoundFinished,
        ContractSaved,
        ContractAnswersSaved,
        ContractProgress,
        ContractAwaited,
    )
}


def to_json(event: Event) -> Json:
    if isinstance(event, Foreign):
        told: Json = json.loads(event.data)
        return told
    return {"type": event.type_name or type(event).__name__, **asdict(event)}


def from_text(text: str) -> Event:
    """Always an event, whatever stands there: one that is missing would break the row of ids."""
    try:
        return from_json(json.loads(text))
    except (ValueError, RecursionError):
        return _UNREADABLE


def from_json(data: object) -> Event:
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        return _UNREADABLE
    kind = KINDS.get(data["type"])
    if kind is None:
        return Foreign(json.dumps(data))
    known = {name: _value(data[name]) for name in kind.__dataclass_fields__ if name in data}
    try:
        event = kind(**known)
        hash(event)
    except TypeError:  # a fact is missing, or is something else than here
        return Foreign(json.dumps(data))
    return event


_UNREADABLE = Foreign(json.dumps({"type": "Unreadable"}))


def _value(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
