"""What plugins bring: deliverable types, prompts, tools, connectors, notification channels and boards."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel

from forge.agents.profile import WORK_TOOLS
from forge.plugins.build_results import BuildResult, Stuck, StuckCause, TestResults, TestResultsByName, Worked
from forge.plugins.services import Board, Card, CardRunner, Channel, Connector, Notice, Pulled

if TYPE_CHECKING:
    from forge.json_value import Json
    from forge.tools.tool import Tool

__all__ = [
    "Allowed",
    "Board",
    "BuildResult",
    "Card",
    "CardRunner",
    "Channel",
    "Connector",
    "DeliverableType",
    "Desk",
    "Issue",
    "Notice",
    "Offer",
    "OfferedPrompt",
    "OfferedTools",
    "Operation",
    "Plugin",
    "Pulled",
    "ResultView",
    "SafetyRules",
    "Severity",
    "Structure",
    "Stuck",
    "StuckCause",
    "TestResults",
    "TestResultsByName",
    "ToolContext",
    "Worked",
    "description_of",
    "result_view_of",
    "shortfall_of",
    "structure_form_of",
    "structures_of",
]


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
        """Whether a person decided to continue although tests cannot run."""

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
