"""What Forge itself has to know of a project: `project.json` as one frozen value, read and written here only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, is_dataclass
from dataclasses import fields as fields_of
from types import MappingProxyType
from typing import Any, Literal, TypeVar, cast

from forge.json_value import Json
from forge.projects import fields
from forge.projects.status import ACTIVE, Phase

FILE = "project.json"
WaitKind = Literal["stuck", "halted", "gate", "outline"]
T = TypeVar("T")


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Failure:
    """A run that ended with an error: in which phase, and the error's code."""

    phase: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why the project does not go on by itself."""

    kind: WaitKind
    text: str
    failed: Failure | None = None
    cause: str | None = None
    """Of a build that is stuck: a value of `StuckCause`."""
    options: tuple[str, ...] = ()
    """Answers to choose from; others may be given."""
    tests: tuple[str, ...] = ()
    """Names of the tests that it is about."""
    explanation: str | None = None
    """In the agent's own words."""


@dataclass(frozen=True, slots=True)
class NamedRun:
    """The run that works on the project; begun by whoever finds that nobody has begun it."""

    id: str
    kind: str
    ended: bool = False


@dataclass(frozen=True, slots=True)
class LastAction:
    """`question` is the question of a run that it answered."""

    action: str
    id: str | None = None
    question: str | None = None


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """A person accepted that `total` tests are enough, when `runs` runs had been recorded."""

    total: int
    runs: int


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A person took the deliverable as it is, in seconds since 1970."""

    time: float


@dataclass(frozen=True, slots=True)
class ProjectInfo:
    id: str
    created_at: str
    repository: str | None = None
    """Where the code repository is."""
    branch: str | None = None
    """The branch that is built on."""
    baseline: str | None = None
    """The commit that the build branch started from."""
    archived: bool = False
    halted_in: Phase | None = None
    """The phase to go back to when a halted project is resumed."""
    locked: Mapping[str, str] = field(default_factory=_nothing)
    """Blob ids of documents as a person confirmed them, by path."""
    last_action: Mapping[str, Any] | None = None
    agent: str = ""
    """Who answers; empty for the model of the settings."""
    chained_from: str | None = None
    """The project whose plan it follows."""
    gate_passed: bool = False
    """Whether that plan was found complete."""
    phase_entered: float | None = None
    phase_times: Mapping[str, float] = field(default_factory=_nothing)
    """Seconds in each phase, without the present stay."""
    runs: int = 0
    run: NamedRun | None = None
    waiting: Waiting | None = None
    last_press: LastAction | None = None
    presses: tuple[tuple[str, str], ...] = ()
    """Ids of actions that had their effect, each with the digest of what was asked for."""
    scene_asked: str | None = None
    """The first message, while the person is asked what it is about."""
    background: tuple[str, ...] = ()
    unknowns: int = 0
    """How many the distillation left open."""
    pages: tuple[str, ...] = ()
    """Names of files in `resources/` that came after the intent was confirmed."""
    open: tuple[Json, ...] = ()
    """Open questions of the specification: `unknown` and `question` of each."""
    answers: tuple[Json, ...] = ()
    inputs: tuple[Json, ...] = ()
    """What a person told a build that waited."""
    drafted: Mapping[str, Any] = field(default_factory=_nothing)
    """Marks of the sections as Forge drafted them, by path."""
    made: Mapping[str, Any] = field(default_factory=_nothing)
    """How documents were made, in lines, by title."""
    outline: Mapping[str, Any] | None = None
    """Where an outline was delivered: how many points are `open`, and which."""
    cards: Mapping[str, str] = field(default_factory=_nothing)
    """Ids of its cards, by board."""
    acknowledged_tests: Acknowledgement | None = None
    test_command: str = ""
    """That a person set; empty for the repository's."""
    tests_unproven: str = ""
    """What was missing when a person decided to go on although tests cannot run."""
    accepted: Acceptance | None = None
    terminated: bool = False
    extra: Mapping[str, Any] = field(default_factory=_nothing)
    """Values of other versions of Forge, kept as they are."""

    def to_json(self) -> str:
        values = {name: _plain(getattr(self, name)) for name in _NAMES if name in _ALWAYS or _is_set(self, name)}
        return fields.dumped(values | dict(self.extra))

    @classmethod
    def from_json(cls, text: str) -> ProjectInfo:
        values = fields.loaded_object(text, FILE)
        read = {name: reader(values, name) for name, reader in _READERS.items() if values.get(name) is not None}
        for name in ("id", "created_at"):
            fields.text_of(values, name, FILE)
        return cls(**read, extra={key: value for key, value in values.items() if key not in _NAMES})


_FIELDS = {each.name: each for each in fields_of(ProjectInfo)}
_NAMES = tuple(name for name in _FIELDS if name != "extra")
_ALWAYS = _NAMES[: _NAMES.index("agent")]
"""Written also where they have no value."""


def _is_set(info: ProjectInfo, name: str) -> bool:
    known = _FIELDS[name]
    usual = known.default if known.default_factory is MISSING else known.default_factory()
    return bool(getattr(info, name) != usual)


def _plain(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {key: part for key, part in asdict(value).items() if part not in (None, False, ())}
    if isinstance(value, Mapping):
        return dict(value)
    return value


Reader = Callable[[Mapping[str, Any], str], Any]


def _text(values: Mapping[str, Any], name: str) -> str:
    return fields.text_of(values, name, FILE)


def _flag(values: Mapping[str, Any], name: str) -> bool:
    return fields.flag_of(values, name, FILE)


def _count(values: Mapping[str, Any], name: str) -> int:
    return fields.count_of(values, name, FILE)


def _number(values: Mapping[str, Any], name: str) -> float:
    value = values[name]
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise fields.invalid(FILE, name, "a number")
    return value


def _object(values: Mapping[str, Any], name: str) -> Json:
    value = values[name]
    if not isinstance(value, dict):
        raise fields.invalid(FILE, name, "an object or null")
    return value


def _object_of(kind: type, wanted: str) -> Reader:
    kinds = (int, float) if kind is float else kind

    def read(values: Mapping[str, Any], name: str) -> Json:
        found = values[name]
        if not isinstance(found, dict) or not all(isinstance(each, kinds) for each in found.values()):
            raise fields.invalid(FILE, name, wanted)
        return found

    return read


def _marks(values: Mapping[str, Any], name: str) -> Json:
    """A first version kept something else under these names: then it is as if nothing were known."""
    value = values[name]
    return value if isinstance(value, dict) else {}


def _list_of(kind: type, wanted: str) -> Reader:
    def read(values: Mapping[str, Any], name: str) -> tuple[Any, ...]:
        found = values[name]
        if not isinstance(found, list) or not all(isinstance(each, kind) for each in found):
            raise fields.invalid(FILE, name, wanted)
        return tuple(tuple(each) if kind is list else each for each in found)

    return read


def _phase(values: Mapping[str, Any], name: str) -> Phase | None:
    value = _text(values, name)
    if value and value not in ACTIVE:
        raise fields.invalid(FILE, name, f"null or one of {', '.join(sorted(ACTIVE))}")
    return Phase(value) if value else None


def _value_of(kind: type[T]) -> Reader:
    """An object with the fields of a value; whatever else is in it belongs to another version."""
    known = {each.name: each for each in fields_of(cast("Any", kind))}
    needed = {name for name, each in known.items() if each.default is MISSING}

    def read(values: Mapping[str, Any], name: str) -> T | None:
        found = _object(values, name)
        if not found:
            return None
        if not needed <= found.keys():
            raise fields.invalid(FILE, name, f"an object with {', '.join(sorted(needed))}")
        return kind(**{key: value for key, value in found.items() if key in known})

    return read


def _waiting(values: Mapping[str, Any], name: str) -> Waiting | None:
    found = dict(_object(values, name))
    for name_ in ("options", "tests"):
        found[name_] = _list_of(str, "a list of texts")(found, name_) if found.get(name_) is not None else ()
    if found.get("failed") is not None:
        found["failed"] = _value_of(Failure)(found, "failed")
    waiting: Waiting | None = _value_of(Waiting)({name: found}, name)
    return waiting


_READERS: dict[str, Reader] = {
    **dict.fromkeys(("id", "created_at", "repository", "branch", "baseline", "agent", "chained_from"), _text),
    **dict.fromkeys(("test_command", "tests_unproven"), _text),
    **dict.fromkeys(("archived", "gate_passed", "terminated"), _flag),
    **dict.fromkeys(("runs", "unknowns"), _count),
    **dict.fromkeys(("open", "answers", "inputs"), _list_of(dict, "a list of objects")),
    **dict.fromkeys(("last_action", "outline"), _object),
    **dict.fromkeys(("drafted", "made"), _marks),
    "halted_in": _phase,
    "locked": _object_of(str, "blob ids by path"),
    "phase_entered": _number,
    "phase_times": _object_of(float, "seconds by phase"),
    "run": _value_of(NamedRun),
    "waiting": _waiting,
    "last_press": _value_of(LastAction),
    "presses": _list_of(list, "a list of pairs"),
    "scene_asked": _text,
    **dict.fromkeys(("background", "pages"), _list_of(str, "a list of texts")),
    "cards": _object_of(str, "ids by board"),
    "acknowledged_tests": _value_of(Acknowledgement),
    "accepted": _value_of(Acceptance),
}
