"""Building code task by task with an agent, running the tests after each, and noticing when it gets nowhere."""

from __future__ import annotations

import re
from dataclasses import replace

from forge.counts import counted
from forge.deliverables.code.failures import HONEST, failing, fingerprint, gist, none_found, not_yours
from forge.deliverables.code.tasks import ACCEPTANCE, BuildTask, criteria_of, queue, turns
from forge.deliverables.code.test_proof import Lack, lack_of
from forge.json_value import Json
from forge.plugins.roles import BuildResult, Desk, Stuck, StuckCause, TestResults, Worked

FAILED_EXITS = 2
"""Of the agent, one after the other on one task: then a person is asked."""
SAME_FAILURES = 3
"""Of the tests, one after the other: then a person is asked."""
MOST_ATTEMPTS = 10
"""At making the tests of one task pass, however each of them failed."""
UNPROVEN_TURNS = 2
"""Orders to write the tests that a task needs: then a person is asked."""
WITHOUT, AGAIN = "Go on without them", "Try again"
BROKEN_SUITES = 1
"""Attempts at a suite that breaks before any test, for want of something: then a person is asked."""
NOTHING_CHANGED = (
    "Your last turn changed no file. Do the task with the tools that write files. If it is done already, add the tests "
    "that prove it. If you cannot do it, say in one sentence what you need."
)
TOGETHER = "Do these tasks in this turn, one after the other. Run all tests when the last one is done."
PROMPTS = ("code-build", "code-fix")
"""Both are told with every order: whoever mends has built, and what was sent before stays the beginning."""
DOCUMENTS = ("docs/spec.md", "docs/constraints.md", "resources/plan.md")
_QUOTED = 300
DECIDE_IT = "left to you: decide it, and say in your answer what you decided and why"
_STUCK_AT = re.compile(r"Task `(?P<id>[^`]+)`")


async def build(desk: Desk) -> BuildResult:
    tasks = turns(queue(desk.spec, desk.constraints))
    for place in range(_begin(desk, tasks), len(tasks)):
        task = tasks[place]
        await desk.progress(f"task {place + 1} of {len(tasks)}: {task.title}")
        done = await _done(desk, task)
        if done.stuck:
            return replace(done, reason=f"Task `{task.id}` (“{task.title}”): {done.reason}")
    return BuildResult(stuck=False, content=counted(sum(len(task.each) for task in tasks), "task"))


def _begin(desk: Desk, tasks: tuple[BuildTask, ...]) -> int:
    """Where to continue: at the task that a person was last asked about, since all before it were done then."""
    asked = (_STUCK_AT.match(str(answer["question"])) for answer in reversed(desk.answers))
    last = next((found["id"] for found in asked if found), None)
    return next((place for place, task in enumerate(tasks) if last in task.ids), 0)


async def _done(desk: Desk, task: BuildTask) -> BuildResult:
    """Do one task until its tests pass. What it returns has the reason why a person is needed, if one is."""
    before = desk.tests_before(task.id)
    if not _asked_about_tests(desk, task) and not _waived(desk, task) and (needs := await _worked(desk, task)):
        return _stuck(needs)
    seen: list[str] = []
    said, sent_back = "", 0
    while True:
        tests = await desk.run_tests()
        if _satisfied(desk, task, tests):
            lack = _lack(desk, task, before, tests)
            if lack is None:
                return BuildResult(stuck=False)
            if sent_back == UNPROVEN_TURNS:
                return _stuck(Stuck(StuckCause.TESTS, lack.reason, (WITHOUT, AGAIN), explanation=said))
            sent_back += 1
            worked = await worked_on(desk, "code-build", task.id, _proving(desk, task, lack), task.title)
            if needs := needed(worked, "writing its tests"):
                return _stuck(needs)
            said = worked.text[:_QUOTED]
            continue
        if tests.cannot_run and (tests.lacks_runner or (not tests.broken and len(seen) == BROKEN_SUITES)):
            return BuildResult(stuck=True, reason=f"the tests cannot run: {tests.missing}", tests=tests)
        seen.append(fingerprint(tests))
        if _goes_round(seen):
            failed = f"the tests failed {seen.count(seen[-1])} times in the same way: {gist(tests)}"
            return _stuck(Stuck(StuckCause.TESTS, failed, tests=tests.new_failures, explanation=said))
        if len(seen) == MOST_ATTEMPTS:
            failed = f"the tests still fail after {MOST_ATTEMPTS} attempts: {gist(tests)}"
            return _stuck(Stuck(StuckCause.TESTS, failed, tests=tests.new_failures, explanation=said))
        worked = await worked_on(desk, "code-fix", task.id, _mending(desk, task, tests), task.title)
        if needs := needed(worked, "mending the tests", tests.new_failures):
            return _stuck(needs)
        said = worked.text[:_QUOTED]


def _goes_round(seen: list[str]) -> bool:
    """Whether the tests fail as they did before: three times in one way, or six times in one of two."""
    return any(len(seen) >= SAME_FAILURES * ways and len({*seen[-SAME_FAILURES * ways :]}) <= ways for ways in (1, 2))


def _stuck(needs: Stuck) -> BuildResult:
    return BuildResult(stuck=True, reason=needs.question, needs=needs)


def needed(worked: Worked, doing: str, tests: tuple[str, ...] = ()) -> Stuck | None:
    """What a person has to decide after a turn; None where the work can continue."""
    if not worked.success:
        at = f" at {doing}" if doing else ""
        return Stuck(StuckCause.AGENT_FAILED, f"the agent failed {FAILED_EXITS} times{at}: {worked.reason}", (), tests)
    asked = worked.decision
    if asked is None:
        return None
    return Stuck(StuckCause.DECISION, asked.question, asked.options, tests, asked.explanation)


async def _worked(desk: Desk, task: BuildTask) -> Stuck | None:
    """The turn that does the task; one that changes nothing is reminded once. Gives why a person is needed."""
    order = _order(desk, task)
    worked = await worked_on(desk, "code-build", task.id, order, task.title)
    if _is_idle(worked) and desk.baseline_tests is not None:
        reminder = f"{order}\n\n{NOTHING_CHANGED}\n\nYour last answer:\n{worked.text}"
        worked = await worked_on(desk, "code-build", task.id, reminder, task.title)
        if _is_idle(worked):
            idle = f"the agent changed no file, although it was reminded: {worked.text[:_QUOTED] or 'it said nothing'}"
            return Stuck(StuckCause.NO_CHANGE, idle)
    if needs := needed(worked, ""):
        return needs
    if _left_to_it(desk, task):
        await desk.say(f"Decided, as you left it to me: {worked.text}")
    return None


def _is_idle(worked: Worked) -> bool:
    return worked.success and not worked.files and worked.decision is None


def _asked_about_tests(desk: Desk, task: BuildTask) -> bool:
    """Whether the work of this task is done, and a person was only asked how its tests can run."""
    last = desk.answers[-1] if desk.answers else {}
    found = _STUCK_AT.match(str(last.get("question", "")))
    return bool(last.get("tests")) and found is not None and found["id"] in task.ids


def _waived(desk: Desk, task: BuildTask) -> bool:
    """Whether a person decided that this task needs no more tests."""
    return any(
        answer.get("answer") == WITHOUT
        and (found := _STUCK_AT.match(str(answer.get("question", "")))) is not None
        and found["id"] in task.ids
        for answer in desk.answers
    )


def needs_criteria(desk: Desk) -> bool:
    """Whether each criterion has to have its test."""
    acceptance = turns(queue(desk.spec, desk.constraints))[-1]
    return bool(desk.thresholds["code_require_tests"]) and not _waived(desk, acceptance)


def _lack(desk: Desk, task: BuildTask, before: TestResults | None, tests: TestResults) -> Lack | None:
    if not desk.thresholds["code_require_tests"] or tests.cannot_run or _waived(desk, task):
        return None
    return lack_of(task, criteria_of(desk.constraints), before, tests)


def _left_to_it(desk: Desk, task: BuildTask) -> bool:
    """Whether the last thing that a person was asked about this task was left to the agent."""
    last = desk.answers[-1] if desk.answers else {}
    found = _STUCK_AT.match(str(last.get("question", "")))
    return bool(last.get("delegated")) and found is not None and found["id"] in task.ids


def _satisfied(desk: Desk, task: BuildTask, tests: TestResults) -> bool:
    if none_found(tests):
        return not (task.tests and desk.thresholds["code_require_tests"])
    return tests.holds or (tests.cannot_run and desk.is_unproven)


async def worked_on(desk: Desk, prompt: str, task: str, message: str, title: str) -> Worked:
    """A turn that fails is tried once more."""
    worked = Worked(success=False, text="")
    for _ in range(FAILED_EXITS):
        worked = await desk.work(prompt, task, message, beside=PROMPTS, documents=DOCUMENTS, title=title)
        if worked.success:
            break
    return worked


def _order(desk: Desk, task: BuildTask) -> str:
    parts = [
        *(f"{_named(each)}\n\n{_tests_wanted(each)}" for each in task.each),
        TOGETHER if task.parts else "",
        _criteria(desk) if task.has_acceptance else "",
        not_yours(desk.baseline_tests),
        decided(desk),
    ]
    return "\n\n".join(filter(None, parts))


def _named(task: BuildTask) -> str:
    return "\n".join(f"Task `{each.id}`: {each.title}" for each in task.each)


def decided(desk: Desk) -> str:
    """What people said meanwhile, for an order."""
    lines = "\n".join(f"- {answer['question']} → {_meant(answer)}" for answer in desk.answers)
    return f"Decided by a person meanwhile:\n{lines}" if lines else ""


def _meant(answer: Json) -> str:
    return DECIDE_IT if answer.get("delegated") else str(answer["answer"])


def _tests_wanted(task: BuildTask) -> str:
    if task.id == ACCEPTANCE:
        return (
            "Write an acceptance test for each numbered criterion below. Its name has `criterion_N` with the number, "
            "such as `test_criterion_3_…`: that is how Forge finds it. Write integration tests for the parts that "
            "work together. Unit tests stand beside the code already; add those "
            "that are missing."
        )
    return (
        "Write its unit tests with it, and integration tests where it meets another part."
        if task.tests
        else "Write unit tests with it where it has behaviour."
    )


def _criteria(desk: Desk) -> str:
    numbered = "\n".join(f"{number}. {text}" for number, text in enumerate(criteria_of(desk.constraints), 1))
    return f"Acceptance criteria:\n{numbered}" if numbered else ""


def _proving(desk: Desk, task: BuildTask, lack: Lack) -> str:
    return "\n\n".join(filter(None, [_named(task), lack.order, HONEST, decided(desk)]))


def _mending(desk: Desk, task: BuildTask, tests: TestResults) -> str:
    wanted = [*map(_tests_wanted, task.each), _criteria(desk)] if none_found(tests) else []
    return "\n\n".join(filter(None, [_named(task), failing(tests), *wanted]))
