"""The deliverable type `code`: built by an agent on a branch, tested in the sandbox, reviewed and mended there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from pydantic import BaseModel

from forge.counts import counted
from forge.deliverables.code import build
from forge.deliverables.code.discovery import discovered
from forge.deliverables.code.failures import HONEST, failing, none_found, told
from forge.deliverables.code.registries import Registries
from forge.deliverables.code.review import SEVERITIES, CodeReview
from forge.deliverables.code.safety import CodeSafety
from forge.deliverables.code.tasks import criteria_of
from forge.deliverables.code.test_proof import lack_of_criteria, unnamed, untested
from forge.json_value import Json
from forge.plugins.errors import AgentFailed, DecisionNeeded
from forge.plugins.roles import (
    BuildResult,
    Desk,
    Issue,
    SafetyRules,
    Severity,
    StuckCause,
    TestResults,
    TestResultsByName,
)

_SUMMARY = 500
REVIEWED = ("changes", "last_findings", "resources", "plan")
_ORDER = tuple(Severity)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class CodeType:
    """Implements `DeliverableType`. Without `registries`, those that the desk knows are asked."""

    def __init__(self, registries: Registries | None = None, *, now: Callable[[], datetime] = _utc_now) -> None:
        self._registries = registries
        self._now = now

    @property
    def name(self) -> str:
        return "code"

    @property
    def title(self) -> str:
        return "Code"

    @property
    def description(self) -> str:
        return "software that runs: a program, a library, a change to an existing repository"

    @property
    def safety(self) -> SafetyRules:
        return CodeSafety()

    @property
    def needs_code(self) -> bool:
        return True

    @property
    def schema(self) -> type[BaseModel]:
        return CodeReview

    @property
    def severities(self) -> Mapping[str, str]:
        return SEVERITIES

    async def discover(self, desk: Desk) -> Json:
        """Open-source candidates with their scorecards."""
        registries = self._registries or Registries(**desk.thresholds.get("registries", {}))
        return await discovered(desk, registries, now=self._now)

    async def build(self, desk: Desk) -> BuildResult:
        return await build.build(desk)

    async def missing(self, desk: Desk) -> str:
        if not await desk.files():
            return "The build changed no file."
        if desk.thresholds["code_require_tests"]:
            tests = await desk.run_tests()
            if none_found(tests):
                return "The build has no test."
            if tests.cannot_run and desk.is_unproven:
                return ""
            if tests.total == 0:
                return f"No test of the build could be run: `{tests.command}` ended with exit code {tests.exit_code}."
        return ""

    async def review(self, desk: Desk, tests: TestResults | None) -> str:
        material = {
            "constraints": desk.constraints,
            "spec": desk.spec,
            "files": "\n".join(await desk.files()),
            "tests": told(tests),
        }
        return await desk.ask("code-review", material, gather=REVIEWED, schema=CodeReview)

    def shortfall(self, desk: Desk, now: TestResultsByName, accepted: TestResultsByName) -> str:
        """A criterion that no passing test is named after any more."""
        if not now or not build.needs_criteria(desk):
            return ""
        criteria = criteria_of(desk.constraints)
        enough = untested(criteria, accepted) if accepted else ()
        missing = tuple(number for number in untested(criteria, now) if number not in enough)
        sentence = unnamed(missing, criteria)
        return f"{sentence[0].upper()}{sentence[1:]}." if missing else ""

    async def fix(self, desk: Desk, issues: Sequence[Issue], tests: TestResults | None) -> str:
        broken = failing(tests) if tests and not tests.holds else ""
        short = f"The work is not accepted: {tests.shortfall}" if tests and tests.shortfall and not broken else ""
        if short and tests and build.needs_criteria(desk):
            lack = lack_of_criteria(criteria_of(desk.constraints), tests)
            short = f"{short}\n\n{lack.order}" if lack else short
        parts = [broken, short, _findings(issues), build.decided(desk)]
        if not any(parts):
            parts = ["The review found nothing and the tests pass, yet the work is not accepted: look at it once more."]
        message = "\n\n".join(filter(None, [*parts, "" if broken else HONEST]))
        worked = await build.worked_on(desk, "code-fix", "review", message, _title(issues))
        if needs := build.needed(worked, "", tests.new_failures if tests else ()):
            if needs.cause is StuckCause.DECISION:
                raise DecisionNeeded(needs.question, needs=needs)
            raise AgentFailed(f"The agent could not mend the findings: {worked.reason}", hint="Resume to try again.")
        return " ".join(worked.text.split())[:_SUMMARY] or f"changed {', '.join(worked.files) or 'nothing'}"


def _title(issues: Sequence[Issue]) -> str:
    return f"Fix {counted(len(issues), 'finding')} of the review" if issues else "Make the tests pass"


def _findings(issues: Sequence[Issue]) -> str:
    """The gravest first."""
    ranked = sorted(issues, key=lambda issue: _ORDER.index(issue.severity))
    lines = [f"- [{i.severity}] {i.location}: {i.description} → {i.recommendation}" for i in ranked]
    return "The review found:\n\n" + "\n".join(lines) if lines else ""
