"""The tests before the work: run once, told in the chat, and a person asked at once where they cannot run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from forge.counts import counted
from forge.pipeline.question_wait import Decision, halted
from forge.projects.status import HaltReason
from forge.tools.suites.outcome import Outcome, named_few

if TYPE_CHECKING:
    from forge.json_value import Json
    from forge.pipeline.desk import ProjectDesk
    from forge.pipeline.draft import Draft
    from forge.pipeline.journey import Journey
    from forge.plugins.roles import TestResults

SUPPLY = "Supply it where Forge runs commands and retry, set another test command, or continue with tests unproven."
"""What a person can do about tests that cannot run."""


async def know_baseline(journey: Journey, desk: ProjectDesk, branch: Json) -> bool:
    """Unless it is known or the work has begun. False: a person ended the project."""
    known = desk.baseline_tests
    if branch["tip"] != branch["baseline"] or (known is not None and not known.cannot_run):
        return True
    tests = await desk.run_baseline()
    while tests.cannot_run and not desk.is_unproven:
        if (await decide_tests(journey, desk, tests)).action == "terminate":
            return False
        if not desk.is_unproven:
            tests = await desk.run_baseline()
    if tests.outcome != Outcome.NO_TESTS and not tests.cannot_run:
        await journey.say(_told(tests))
    return True


def must_ask(desk: ProjectDesk, tests: TestResults | None) -> bool:
    """Whether nothing that an agent does makes the tests run."""
    if tests is None or not tests.cannot_run or desk.is_unproven:
        return False
    return tests.lacks_runner or (desk.baseline_tests is not None and desk.baseline_tests.cannot_run)


async def decide_tests(journey: Journey, desk: ProjectDesk, tests: TestResults, asked: str = "") -> Decision:
    """Tests cannot run: what a person decides about it. `asked` is the question as a builder put it."""
    reason = f"{asked or f'The tests cannot run: {tests.missing}'}. {SUPPLY}"
    decision = await halted(journey, HaltReason.TESTS_CANNOT_RUN, reason, keeps_input=False)
    if decision.action != "terminate":
        answer: Json = {"question": asked or reason, "answer": answer_to(decision.action, decision.text), "tests": True}

        def write(draft: Draft) -> None:
            settle_tests(draft, decision.action, decision.text, tests.missing)
            if asked:
                draft.info = replace(draft.info, inputs=(*draft.info.inputs, answer))

        await journey.change(write, "tests: decided by a person")
        await journey.renew()
        if asked:
            desk.answers += (answer,)
    desk.forget_tests()
    await desk.refresh()
    return decision


def settle_tests(draft: Draft, action: str, text: str, missing: str) -> None:
    """What a person decided about tests that cannot run, in the project's notes."""
    if action == "override":
        draft.info = replace(draft.info, tests_unproven=missing)
    elif action == "input" and text.strip():
        draft.info = replace(draft.info, test_command=text.strip())


def answer_to(action: str, text: str) -> str:
    match action:
        case "override":
            return "Go on; the tests stay unproven."
        case "input":
            return f"Tests run with `{text.strip()}`."
        case _:
            return "Try again."


def _told(tests: TestResults) -> str:
    figures = f"{tests.passed} of {counted(tests.total, 'test')} pass"
    failing = (
        f" Already failing, so not counted against the work: {named_few(tests.failures)}." if tests.failures else ""
    )
    return f"Before the work, {figures} with `{tests.command}`.{failing}"
