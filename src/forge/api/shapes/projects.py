"""Projects, their chat, files and board."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from forge.api.shapes.base import Given, Shape, Text, shown, taken
from forge.api.shapes.repositories import BranchTestsShape
from forge.json_value import Json

Action = Literal["distill", "confirm", "provide_input", "resume", "override", "terminate", "correct", "realign"]
_ID = "20261116-4f2a"


class NewProject(Given):
    name: str | None = Field(default=None, max_length=200)
    agent: str | None = Field(default=None, max_length=200, description="Who answers: a model, a program, `builtin`.")
    repository: str | None = Field(default=None, max_length=64, description="Id of the repository to build code in.")
    after: str | None = Field(default=None, max_length=200, description="Id of the finished plan that it follows.")
    deliverable_type: str | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="`plan`, `code` or a plugin's: what the intent says, unless your words name another one.",
    )
    model_config = taken(name="Summer party", agent="builtin", deliverable_type="plan")


class ProjectChange(Given):
    name: str | None = Field(default=None, max_length=200)
    archived: bool | None = None
    model_config = taken(name="Garden party")


class AnswerGiven(Given):
    """The answer to one open question: either `text`, or `delegated`."""

    question: int = Field(ge=1, le=1000, description="Its number in `open_questions`, from 1; 1 for a stuck build.")
    text: str = Field(default="", max_length=100_000)
    delegated: bool = Field(
        default=False, description="Leave it to Forge: a model decides and says why; without one it stays open."
    )
    model_config = taken(question=1, delegated=True)


class NewMessage(Given):
    text: str = Field(default="", max_length=400_000)
    answers: list[AnswerGiven] = Field(default_factory=list, max_length=200)
    about: Literal["background", "problem"] | None = Field(
        default=None, description="What the first message is; alone, the answer to `scene_question`."
    )
    explore: bool = Field(
        default=True, description="Let the explorer answer during the brain dump; else the words are kept and no more."
    )
    model_config = taken(text="We want to plan a summer party for forty people.")


class ActionOptions(Given):
    text: str = Field(default="", max_length=400_000)
    confirmed: bool = Field(default=False, description="Some actions ask for a confirmation first.")
    agent: str | None = Field(
        default=None, min_length=1, max_length=200, description="With `resume`: who answers from here on."
    )
    delegated: bool = Field(
        default=False, description="With `provide_input`: let Forge decide what the build is stuck on."
    )
    model_config = taken(text="", confirmed=True)


class OfferShape(Shape):
    """What can be done with a project now. `edit` is done by hand in `document`; all others are actions."""

    action: str
    title: str
    about: str
    confirm: str = Field(description="What a person is asked before it happens; empty where nothing is asked.")
    takes_agent: bool
    takes_text: bool
    document: str
    model_config = shown(
        action="resume",
        title="Retry",
        about="Try again where it stopped, with the same model or another one.",
        confirm="",
        takes_agent=True,
        takes_text=False,
        document="",
    )


class OutlinePoint(Shape):
    severity: str
    description: Text
    location: Text
    recommendation: Text


class Way(Shape):
    way: Literal["key", "program", "ollama"]
    about: str


class OutlineShape(Shape):
    """What was delivered where no model wrote it."""

    open: int
    points: list[OutlinePoint]
    accepted: bool
    note: str = Field(description="The document that says how it was made.")
    connect: list[Way]


class TestRunShape(Shape):
    """One run of all tests of a project."""

    __test__ = False

    outcome: Literal["passed", "failed", "cannot run", "no tests"]
    total: int
    passed: int
    failed: int
    skipped: int
    new_failures: list[Text] = Field(description="Tests that fail and did not fail before the work, by name.")
    known_failures: list[Text] = Field(description="Tests that failed before the work, too. They do not count.")
    flaky: list[Text] = Field(default=[], description="Tests that failed first and passed when they were run again.")
    missing: Text = Field(description="What has to be supplied before tests can run; else empty.")
    supply: str = Field(description="How to supply it; else empty.")
    exit_code: int
    commit: str | None
    command: Text
    model_config = shown(
        outcome="failed",
        total=3,
        passed=1,
        failed=2,
        skipped=0,
        new_failures=["tests.test_split.test_cents"],
        known_failures=["tests.test_dates.test_zone"],
        flaky=[],
        missing="",
        supply="",
        exit_code=1,
        commit="3f8c1d2e4b5a69788796a5b4c3d2e1f001122334",
        command="python3 -m pytest -q",
    )


class ProjectTestsShape(Shape):
    """How the tests of a project run, and what the runs came to."""

    command: BranchTestsShape
    last: TestRunShape | None
    baseline: TestRunShape | None = Field(description="The run before the first task.")
    unproven: Text = Field(description="What was missing when a person went on without tests; else empty.")


class StuckShape(Shape):
    """What work that cannot continue by itself asks a person."""

    cause: str = Field(
        description="`decision`: the agent asks; `tests`: they keep failing; `no_change`: it changed no file; "
        "`agent_failed`: its turns ended with an error; else empty."
    )
    question: Text
    options: list[Text] = Field(description="Answers that the agent sees; any other is accepted, too.")
    tests: list[Text] = Field(description="Names of the tests that it is about.")
    explanation: Text = Field(description="In the agent's own words.")
    model_config = shown(
        cause="decision",
        question="Task `parse`: Does an empty file count as valid?",
        options=["valid", "error"],
        tests=["tests.test_parse.test_empty"],
        explanation="The specification names no case for an empty file.",
    )


class ProjectShape(Shape):
    id: str
    name: Text
    directory: Text
    phase: str
    halt_reason: str | None
    deliverable_type: str | None
    agent: Text
    busy: bool
    waiting: str | None
    question: Text
    open_questions: list[Text]
    actions: list[str]
    rounds: list[Json]
    tests: TestRunShape | None
    repository: Text | None
    branch: Text | None
    deliverable: Text | None
    created_at: str
    updated_at: str
    phase_times: dict[str, float]
    archived: bool
    queued: bool
    queue_place: int | None
    problem: Text
    trouble: Text = Field(
        description="While it works: `overloaded, retrying in 8 s (3 of 6)` with the model. Else empty."
    )
    label: Text = Field(description="The state in words: `Outline ready · 10 points open`.")
    outline: OutlineShape | None
    scene_question: str = Field(description="Asked of the first message: background, or the problem? Else empty.")
    offers: list[OfferShape]
    stuck: StuckShape | None = Field(description="Where `waiting` is `stuck`: what a person has to decide.")
    model_config = shown(
        id=_ID,
        name="Summer party",
        directory="/workspace/projects/summer-party",
        phase="brain_dump",
        halt_reason=None,
        deliverable_type=None,
        agent="builtin",
        busy=False,
        waiting=None,
        question="",
        open_questions=[],
        actions=["distill", "correct"],
        rounds=[],
        tests=None,
        repository=None,
        branch=None,
        deliverable=None,
        created_at="2026-11-16T03:00:00.000Z",
        updated_at="2026-11-16T03:00:00.000Z",
        phase_times={"brain_dump": 12.5},
        archived=False,
        queued=False,
        queue_place=None,
        problem="",
        trouble="",
        label="Brain dump",
        outline=None,
        scene_question="",
        offers=[],
        stuck=None,
    )


class ActionResultShape(Shape):
    """The project as it is now; `changed` is false where the action had its effect before."""

    project: ProjectShape
    changed: bool
    run: str | None = Field(description="The work that follows, if any.")
    topic: str = Field(description="The topic of its events.")
    after: int = Field(description="The id after which they begin.")
    message: Text


class ProjectRunShape(Shape):
    over: bool = Field(description="Whether it has ended or waits for a person.")
    after: int = Field(description="The id of the last event of the project so far.")
    model_config = shown(over=True, after=42)


class DeletedProject(Shape):
    kept: Text = Field(description="The directory that the project was moved to.")
    model_config = shown(kept="/workspace/deleted/summer-party-20261116-030000")


class MessageShape(Shape):
    role: Literal["human", "ai"]
    content: Text
    phase: str
    timestamp: str
    model_config = shown(
        role="human", content="We want a party.", phase="brain_dump", timestamp="2026-11-16T03:00:00.000Z"
    )


class LogLine(Shape):
    timestamp: Text = ""
    level: Text = ""
    event: Text = ""
    phase: Text = ""
    detail: Text = ""


class FileShape(Shape):
    name: Text
    bytes_size: int
    model_config = shown(name="plan.md", bytes_size=5120)


class FilesShape(Shape):
    files: list[FileShape]


class VersionShape(Shape):
    commit: str
    time: float
    author: Text
    subject: Text


class DocumentDiffShape(Shape):
    name: Text
    old: str | None
    new: str
    diff: Text = Field(description="As git prints it; empty where nothing differs.")


class AcceptedTests(Shape):
    total: int
    runs: int


class RowShape(Shape):
    id: str
    name: Text
    phase: str
    halt_reason: str | None
    deliverable_type: str | None
    phase_times: dict[str, float]
    rounds: int
    totals: list[int]
    updated: str
    waiting: Text | None
    label: Text
    outline: bool


class CardShape(Shape):
    row: RowShape
    in_phase: float
    overall: float
    sparkline: str
    trend: str
    halted: bool


class ColumnShape(Shape):
    phase: str
    title: str
    cards: list[CardShape]


class BoardShape(Shape):
    columns: list[ColumnShape]
    broken: list[Text] = Field(description="A sentence about each project that cannot be read.")
    model_config = shown(columns=[{"phase": "brain_dump", "title": "Brain dump", "cards": []}], broken=[])
