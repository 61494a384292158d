"""What comes of building: test runs, turns of an agent, and what a person has to decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

from forge.tools.suites.outcome import Outcome

if TYPE_CHECKING:
    from forge.agents.decision_request import DecisionRequest


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
    """Places in changed files that could hide a failing test, each with what is there."""
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
    """What the agent needs a person to decide before it can continue."""
