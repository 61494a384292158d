"""Building code task by task with an agent, running the tests after each, and noticing when it gets nowhere."""

from __future__ import annotations

import re

from forge.counts import counted
from forge.deliverables.code.failures import failing, fingerprint, gist, none_found
from forge.deliverables.code.tasks import ACCEPTANCE, Task, criteria_of, queue
from forge.json_value import Json
from forge.plugins.contracts import BuildResult, Desk, TestResults, Worked

FAILED_EXITS = 2
"""Of the agent, one after the other on one task: then a person is asked."""
SAME_FAILURES = 3
"""Of the tests, one after the other: then a person is asked."""
MOST_ATTEMPTS = 10
"""At making the tests of one task pass, however each of them failed."""
DECIDE_IT = "left to you: decide it, and say in your answer what you decided and why"
_STUCK_AT = re.compile(r"Task `(?P<id>[^`]+)`")


async def build(desk: Desk) -> BuildResult:
    tasks = queue(desk.spec, desk.constraints)
    for place in range(_begin(desk, tasks), len(tasks)):
        task = tasks[place]
        await desk.progress(f"task {place + 1} of {len(tasks)}: {task.title}")
        if reason := await _done(desk, task):
            return BuildResult(stuck=True, reason=f"Task `{task.id}` (“{task.title}”): {reason}")
    return BuildResult(stuck=False, content=counted(len(tasks), "task"))


def _begin(desk: Desk, tasks: tuple[Task, ...]) -> int:
    """Where to go on: at the task that a person was last asked about, since all before it were done then."""
    asked = (_STUCK_AT.match(str(answer["question"])) for answer in reversed(desk.answers))
    last = next((found["id"] for found in asked if found), None)
    return next((place for place, task in enumerate(tasks) if task.id == last), 0)


async def _done(desk: Desk, task: Task) -> str:
    """Do one task until its tests pass. What it gives back is the reason why a person is needed."""
    worked = await worked_on(desk, "code-build", task.id, _order(desk, task))
    if not worked.success:
        return f"the agent failed {FAILED_EXITS} times: {worked.reason}"
    if _left_to_it(desk, task):
        await desk.say(f"Decided, as you left it to me: {worked.text}")
    seen: list[str] = []
    while True:
        tests = await desk.run_tests()
        if _satisfied(desk, task, tests):
            return ""
        seen.append(fingerprint(tests))
        if seen[-SAME_FAILURES:] == seen[-1:] * SAME_FAILURES:
            return f"the tests failed {SAME_FAILURES} times in the same way: {gist(tests)}"
        if len(seen) == MOST_ATTEMPTS:
            return f"the tests still fail after {MOST_ATTEMPTS} attempts: {gist(tests)}"
        worked = await worked_on(desk, "code-fix", task.id, _mending(desk, task, tests))
        if not worked.success:
            return f"the agent failed {FAILED_EXITS} times at mending the tests: {worked.reason}"


def _left_to_it(desk: Desk, task: Task) -> bool:
    """Whether the last thing that a person was asked about this task was left to the agent."""
    last = desk.answers[-1] if desk.answers else {}
    found = _STUCK_AT.match(str(last.get("question", "")))
    return bool(last.get("delegated")) and found is not None and found["id"] == task.id


def _satisfied(desk: Desk, task: Task, tests: TestResults) -> bool:
    if none_found(tests):
        return not (task.tests and desk.thresholds["code_require_tests"])
    return tests.all_pass


async def worked_on(desk: Desk, prompt: str, task: str, message: str) -> Worked:
    """A turn that fails is tried once more."""
    worked = Worked(success=False, text="")
    for _ in range(FAILED_EXITS):
        worked = await desk.work(prompt, task, message)
        if worked.success:
            break
    return worked


def _order(desk: Desk, task: Task) -> str:
    decided = "\n".join(f"- {answer['question']} → {_meant(answer)}" for answer in desk.answers)
    parts = [
        f"Task `{task.id}`: {task.title}",
        _tests_wanted(task),
        f"Specification:\n\n{desk.spec}",
        _criteria(desk),
        f"Decided by a person meanwhile:\n{decided}" if decided else "",
    ]
    return "\n\n".join(filter(None, parts))


def _meant(answer: Json) -> str:
    return DECIDE_IT if answer.get("delegated") else str(answer["answer"])


def _tests_wanted(task: Task) -> str:
    if task.id == ACCEPTANCE:
        return (
            "Write an acceptance test for each numbered criterion below, whose name tells the criterion, and "
            "integration tests for the parts that work together. Unit tests stand beside the code already; add those "
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


def _mending(desk: Desk, task: Task, tests: TestResults) -> str:
    wanted = f"{_tests_wanted(task)}\n\n{_criteria(desk)}".strip() if none_found(tests) else ""
    return "\n\n".join(filter(None, [f"Task `{task.id}`: {task.title}", failing(tests), wanted]))
