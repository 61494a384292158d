"""What plugins bring: deliverable types, prompts, tools, connectors, notification channels and boards."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, runtime_checkable

from pydantic import BaseModel

from forge.agents.profile import WORK_TOOLS
from forge.tools.suites.outcome import Outcome

if TYPE_CHECKING:
    from forge.agents.decision_request import DecisionRequest
    from forge.json_value import Json
    from forge.tools.tool import Tool


class Operation(StrEnum):
    """Everything that building and polishing can do, named before it is done so that it can be refused."""

    SHELL_EXEC = "shell_exec"
    FILE_CREATE_SOURCE = "file_create_source"
    FILE_CREATE_DOC = "file_create_doc"
    FILE_CREATE_STATE = "file_create_state"
    AGENT_INVOKE = "agent_invoke"
    PACKAGE_INSTALL = "package_install"
    TEST_EXEC = "test_exec"
    GIT_COMMIT = "git_commit"


@dataclass(frozen=True, slots=True)
class Allowed:
    """The answer of safety rules; `reason` says why not."""

    allowed: bool
    reason: str = ""


class SafetyRules(Protocol):
    @property
    def blocked_operations(self) -> frozenset[Operation]: ...

    def validate(self, operation: Operation) -> Allowed: ...


@dataclass(frozen=True, slots=True)
class TestResults:
    """One run of all tests, on one commit. `details` is what the runners printed."""

    __test__ = False  # not a test class, whatever its name looks like to a test runner

    total: int
    passed: int
    failed: int
    details: str
    commit: str | None = None
    exit_code: int = 0
    command: str = ""
    skipped: int = 0
    """Not among `total`."""
    outcome: str = ""
    """A value of `Outcome`; empty where nobody told."""
    failures: tuple[str, ...] = ()
    """Names of failed tests, where the runners tell them."""
    missing: str = ""
    """What has to be supplied before tests can run, in words."""
    lacks_runner: bool = False
    """No change of the code makes them run: the runner itself is missing."""
    results: Mapping[str, str] = field(default_factory=dict, repr=False)
    """`passed`, `failed` or `skipped` by the name of the test, where the runners tell it."""
    weakened: tuple[str, ...] = ()
    """Test files that check less than before the work began, each with its figures."""
    known: tuple[str, ...] = ()
    """Failures that were there before the work began."""
    flaky: tuple[str, ...] = ()
    """Failed first and passed when they were run again."""
    broken: tuple[str, ...] = ()
    """Test files that could not be loaded."""
    evasions: tuple[str, ...] = ()
    """Places in changed files that could hide a failing test, each with what stands there."""
    shortfall: str = ""
    """Why this run is not accepted although nothing new fails, as a sentence."""

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """What `asdict` made; whatever an older version did not write has its default."""
        told = {key: value for key, value in values.items() if key in cls.__dataclass_fields__}
        for key in ("failures", "weakened", "known", "flaky", "broken", "evasions"):
            told[key] = tuple(told.get(key, ()))
        return cls(**told)

    @property
    def all_pass(self) -> bool:
        return self.exit_code == 0 and self.failed == 0 and self.total > 0 and self.passed == self.total

    @property
    def cannot_run(self) -> bool:
        return self.outcome == Outcome.CANNOT_RUN

    @property
    def new_failures(self) -> tuple[str, ...]:
        return tuple(name for name in self.failures if name not in self.known)

    @property
    def holds(self) -> bool:
        """Whether all pass except those that failed before the work began."""
        only_known = self.outcome == Outcome.FAILED and 0 < self.failed == len(self.failures) and not self.new_failures
        return self.all_pass or (only_known and self.passed + self.failed == self.total)


TestResultsByName = Mapping[str, str]
"""`passed`, `failed` or `skipped` by the name of the test; empty where the runners do not tell."""


class StuckCause(StrEnum):
    DECISION = "decision"
    """The agent asks a person to decide something."""
    TESTS = "tests"
    """The tests keep failing."""
    NO_CHANGE = "no_change"
    """The agent changed no file, although it was reminded."""
    AGENT_FAILED = "agent_failed"
    """The agent's turns ended with an error."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """What a person has to decide, and what is known about it."""

    cause: StuckCause
    question: str
    options: tuple[str, ...] = ()
    """Answers that the agent sees; a person may give another."""
    tests: tuple[str, ...] = ()
    """Names of the tests that it is about."""
    explanation: str = ""
    """In the agent's own words."""


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What became of a build. `stuck` means that a person has to decide something; `reason` says what."""

    stuck: bool
    reason: str = ""
    content: str = ""
    tests: TestResults | None = None
    """Those that cannot run, where that is why it is stuck."""
    needs: Stuck | None = None
    """More about what has to be decided, where the builder knows it."""


@dataclass(frozen=True, slots=True)
class Worked:
    """A turn of an agent on the build branch: one commit, or the reason why there is none. A turn that changed no file
    makes no commit; `commit` is where the branch is then.
    """

    success: bool
    text: str
    commit: str | None = None
    files: tuple[str, ...] = ()
    reason: str = ""
    decision: DecisionRequest | None = None
    """What the agent needs a person to decide before it can go on."""


class Desk(Protocol):
    """What a deliverable type works with. Every action is checked against the type's safety rules first, recorded as
    a durable step, and not done again after a crash. Code between the actions must be a function of their results.
    """

    @property
    def project(self) -> Path:
        """The project's directory."""

    @property
    def name(self) -> str:
        """The project's name."""

    @property
    def intent(self) -> str: ...

    @property
    def spec(self) -> str: ...

    @property
    def constraints(self) -> str: ...

    @property
    def answers(self) -> tuple[Json, ...]:
        """What people decided when the build was stuck: `question` and `answer` of each. With `delegated` they left it
        to the agent, which decides it and says why.
        """

    @property
    def baseline_tests(self) -> TestResults | None:
        """The run before the first task; None where there was none, as in runs that an older version began."""

    def tests_before(self, task: str) -> TestResults | None:
        """The last run before the first turn of this task; None where there was none. Asked before the task begins."""

    @property
    def is_unproven(self) -> bool:
        """Whether a person decided to go on although tests cannot run."""

    @property
    def thresholds(self) -> Mapping[str, Any]:
        """What a person set: `plan_min_chars`, `code_require_tests`, and `registries`, addresses by name."""

    async def ask(
        self,
        prompt: str,
        material: Mapping[str, Any],
        *,
        gather: Collection[str] = (),
        schema: type[BaseModel] | None = None,
        complaint: str = "",
    ) -> str:
        """An answer to the prompt file `<prompt>.md` with `material` (JSON values) under it. `agent_invoke`.

        `gather` names what Forge adds: `repository`, `environment`, `resources`, `plan`, `changes`, `last_findings`.
        A provider that can bind an answer to a schema binds it to `schema`. With a `complaint`, the last answer to
        this prompt is sent back with it, to be corrected.
        """

    def read(self, path: str) -> str | None:
        """A document of the project, as it is now."""

    async def write(self, path: str, text: str, *, message: str) -> None:
        """A file of the project and its commit. The kind of operation follows from the path's ending."""

    async def write_all(self, files: Mapping[str, str], *, message: str) -> None:
        """Several files of the project as one commit."""

    async def work(
        self,
        prompt: str,
        task: str,
        message: str,
        *,
        beside: Collection[str] = (),
        documents: Collection[str] = (),
        title: str = "",
    ) -> Worked:
        """Let an agent work on the build branch of the code repository. `task` names what it works on; `title` is
        the subject of its commit where the agent gives none.

        The system prompt is the prompt file, those in `beside`, and `documents` of the project by path, which the
        message then need not repeat. The same files give the same system prompt, whichever of them is `prompt`.
        """

    async def run_tests(self) -> TestResults:
        """All tests of the build branch as it is now, in the sandbox. `test_exec`."""

    async def files(self) -> Mapping[str, str]:
        """Text files of the build branch that differ from where it began, whole; empty without a code repository."""

    async def say(self, text: str) -> None:
        """Into the project's chat, as Forge's words."""

    async def progress(self, text: str) -> None:
        """A line in the operational log."""


class Severity(StrEnum):
    CRITICAL = "critical"
    MEDIUM = "medium"
    MINOR = "minor"


@dataclass(frozen=True, slots=True)
class Issue:
    severity: Severity
    description: str
    location: str
    recommendation: str


@dataclass(frozen=True, slots=True)
class Structure:
    """A form that the deliverable can have: its sections in their order."""

    name: str
    title: str
    sections: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResultView:
    """Where a person looks at the result: at a document of the project, or at the build branch."""

    kind: Literal["document", "branch"]
    path: str = ""
    """Of the document, in the project's directory."""


class DeliverableType(Protocol):
    """A kind of thing that Forge can deliver: `plan`, `code`, or a stranger's.

    Further members may be left out: `structures`, a tuple of `Structure`; `result_view`, a `ResultView`;
    `description`, one sentence by which a model tells it from other types; `structure_form`, a text that says what
    `spec.structure` of its specification has to hold; and `shortfall`, as `shortfall_of` asks for it.
    """

    @property
    def name(self) -> str:
        """The word that names it in an intent's type section, lower case."""

    @property
    def title(self) -> str: ...

    @property
    def safety(self) -> SafetyRules: ...

    @property
    def needs_code(self) -> bool:
        """Whether it is built on a branch of a code repository, and its tests count."""

    @property
    def schema(self) -> type[BaseModel]:
        """What a review must look like. It has at least `issues`, each with severity, description, location and
        recommendation.
        """

    @property
    def severities(self) -> Mapping[str, str]:
        """What counts as critical, medium and minor here."""

    async def discover(self, desk: Desk) -> Json:
        """What to look up before the specification is written; empty where there is nothing."""

    async def build(self, desk: Desk) -> BuildResult: ...

    async def missing(self, desk: Desk) -> str:
        """What the build has not delivered, as a sentence; empty when it can be polished."""

    async def review(self, desk: Desk, tests: TestResults | None) -> str:
        """One review, as the agent gave it; whoever called checks it against `schema`."""

    async def fix(self, desk: Desk, issues: Sequence[Issue], tests: TestResults | None) -> str:
        """Mend the issues; a line or two on what was done. `DecisionNeeded` where a person has to decide first."""


def description_of(type_: DeliverableType) -> str:
    return str(getattr(type_, "description", ""))


def structure_form_of(type_: DeliverableType) -> str:
    return str(getattr(type_, "structure_form", ""))


def shortfall_of(type_: DeliverableType, desk: Desk, now: TestResultsByName, accepted: TestResultsByName) -> str:
    """Why passing tests still show too little, as a sentence. `accepted` is the run that a person said is enough."""
    ask: Callable[[Desk, TestResultsByName, TestResultsByName], str] | None = getattr(type_, "shortfall", None)
    return "" if ask is None else ask(desk, now, accepted)


def structures_of(type_: DeliverableType) -> tuple[Structure, ...]:
    return tuple(getattr(type_, "structures", ()))


def result_view_of(type_: DeliverableType) -> ResultView:
    view: ResultView | None = getattr(type_, "result_view", None)
    return view or ResultView("branch" if type_.needs_code else "document")


@dataclass(frozen=True, slots=True)
class OfferedPrompt:
    """A prompt that a plugin asks for, and whose model answers it. A person may replace the text."""

    name: str
    model_role: str
    """A name under `models` in the settings: `planner`, `writer`, `builder`, `reviewer`, …"""
    text: str
    tools: frozenset[str] = WORK_TOOLS
    """What an agent may use that works on a branch with it (`Desk.work`)."""
    aliases: tuple[tuple[str, str], ...] = ()
    """Another name for a tool, and the tool's own."""
    own_tools: bool = True
    """Whether it may use the repository's tools that a person approved, too."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The turn that tools are made for."""

    repository: Path
    """Its git directory."""
    branch: str
    run: str
    role: str
    """Of the agent, as its profile says."""


@dataclass(frozen=True, slots=True)
class OfferedTools:
    """Tools that are made for each turn. Only those in `names` are used, and only by agents of these roles."""

    names: tuple[str, ...]
    make: Callable[[ToolContext], Sequence[Tool]]
    roles: tuple[str, ...] = ("chat",)


@dataclass(frozen=True, slots=True)
class Pulled:
    """What a connector brought: paths that it saved, and targets that it could not get, each with the reason."""

    saved: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class Connector(Protocol):
    """Pulls a document from elsewhere into a project's `resources/`."""

    @property
    def name(self) -> str:
        """As in the settings, under `connectors`."""

    def takes(self, target: str) -> bool:
        """Whether this address is one of its own."""

    async def pull(self, target: str, resources: Path) -> Pulled: ...


@dataclass(frozen=True, slots=True)
class Notice:
    """What is told to a person who is not looking. One line, and never a secret."""

    project_id: str
    project_name: str
    phase: str
    event_type: str
    """convergence_success, guard_triggered, human_needed, milestone_complete or error."""
    summary: str


class Channel(Protocol):
    """A way to tell a person: ntfy, Telegram, or one of the many that a library knows."""

    @property
    def name(self) -> str: ...

    async def send(self, notice: Notice) -> None:
        """Raises a `ForgeError` where it could not be delivered."""


@dataclass(frozen=True, slots=True)
class Card:
    """A project as a board shows it."""

    project_id: str
    name: str
    phase: str
    agent: str
    directory: str
    builds_code: bool = False
    """Whether code is being built for it now: a board that can run cards starts it."""


class Board(Protocol):
    """Mirrors projects to somebody's board. A failure is a `ForgeError`, which is logged and never stops a project."""

    @property
    def name(self) -> str: ...

    async def create(self, card: Card) -> str:
        """Put a new card there; gives what the board calls it."""

    async def update(self, reference: str, card: Card) -> None: ...


@runtime_checkable
class CardRunner(Protocol):
    """A board that can run a card as well. A board without `start` only shows cards."""

    async def start(self, reference: str, card: Card) -> None:
        """Run the card, which `update` or `create` has just written. A card that runs already is left alone."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What one plugin has to offer. Connectors, channels and boards are made from their section of the settings;
    None where that section does not enable them.
    """

    deliverables: tuple[DeliverableType, ...] = ()
    prompts: tuple[OfferedPrompt, ...] = ()
    tools: tuple[OfferedTools, ...] = ()
    connectors: Mapping[str, Callable[[Mapping[str, Any]], Connector]] | None = None
    channels: Mapping[str, Callable[[Mapping[str, Any]], Channel]] | None = None
    boards: Mapping[str, Callable[[Mapping[str, Any]], Board]] | None = None


Plugin = Callable[[], Offer]
"""What the entry point group `forge.plugins` names: a function that returns an `Offer`."""
