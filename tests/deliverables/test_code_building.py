"""Building code at a desk in memory: the queue, the orders, the tests, and when a person is asked."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.deliverables.code import CodeType
from forge.deliverables.code.failures import fingerprint, none_found
from forge.deliverables.code.tasks import criteria_of, queue, spec_tasks
from forge.pipeline import specification
from forge.plugins.errors import AgentFailed
from forge.plugins.roles import BuildResult, DeliverableType, Issue, Operation, Severity, TestResults, Worked
from tests.deliverables.desks import DONE, GREEN, NO_TESTS, ScriptedDesk, red

SPEC = """\
# Tally — Specification

## Deliverable Structure

One module and a command.

- Language: Python
- Framework: none

### Tasks

1. Read the file (tests)
2. Count the words

## Key Decisions

- One file
"""
CONSTRAINTS = "# Tally\n\n## Acceptance Criteria\n\n1. Counts words.\n2. Refuses a folder.\n"
FAILED = Worked(success=False, text="", reason="it ended with exit code 7")
CODE = CodeType()


def desk(**options: object) -> ScriptedDesk:
    return ScriptedDesk(spec=SPEC, constraints=CONSTRAINTS, **options)  # type: ignore[arg-type]


def test_it_is_a_deliverable_type_that_may_do_everything() -> None:
    type_: DeliverableType = CODE
    assert (type_.name, type_.title, type_.needs_code) == ("code", "Code", True)
    assert all(type_.safety.validate(operation).allowed for operation in Operation)
    assert set(type_.severities) == {"critical", "medium", "minor"}


@pytest.mark.req("P-07")
@pytest.mark.asyncio
async def test_tasks_are_done_in_their_order_and_the_acceptance_tests_come_last() -> None:
    at = desk()
    assert await CODE.build(at) == BuildResult(stuck=False, content="3 tasks")
    assert [(prompt, task) for prompt, task, _ in at.worked] == [
        ("code-build", "read-the-file"),
        ("code-build", "count-the-words"),
        ("code-build", "acceptance-tests"),
    ]
    assert at.tested == 3
    assert at.told[0] == "task 1 of 3: Read the file"


@pytest.mark.req("P-07")
@pytest.mark.asyncio
async def test_an_order_names_the_task_and_the_tests_and_the_documents_are_told_once() -> None:
    at = desk(answers=({"question": "Which encoding?", "answer": "UTF-8"},))
    await CODE.build(at)
    first, second, last = (message for *_, message in at.worked)
    for message in (first, second, last):
        assert SPEC not in message
        assert "Which encoding? → UTF-8" in message
    documents = ("docs/spec.md", "docs/constraints.md", "resources/plan.md")
    assert set(at.told_beside) == {(("code-build", "code-fix"), documents)}
    assert "1. Counts words.\n2. Refuses a folder." in last
    assert "Task `read-the-file`: Read the file" in first
    assert "unit tests with it, and integration tests" in first
    assert "unit tests" in second
    assert "one acceptance test for each of the 2 criteria" in last
    assert "acceptance test for each numbered criterion" in last
    assert "integration tests" in last


@pytest.mark.req("P-07")
@pytest.mark.asyncio
async def test_failing_tests_are_mended_with_what_they_printed_and_may_not_be_weakened() -> None:
    at = desk(tests=(red("FAILED test_a - assert 1 == 2"), GREEN))
    assert not (await CODE.build(at)).stuck
    prompt, task, message = at.worked[1]
    assert (prompt, task) == ("code-fix", "read-the-file")
    assert "1 of 3 failed" in message
    assert "FAILED test_a - assert 1 == 2" in message
    assert "Never delete, skip or weaken a test" in message


@pytest.mark.req("P-07")
@pytest.mark.asyncio
async def test_one_failed_turn_is_tried_again_and_two_on_one_task_ask_a_person() -> None:
    once = desk(turns=(FAILED, DONE))
    assert not (await CODE.build(once)).stuck
    assert len(once.worked) == 4
    twice = desk(turns=(DONE, FAILED, FAILED, DONE))
    result = await CODE.build(twice)
    assert result.stuck
    assert result.reason == (
        "Task `count-the-words` (“Count the words”): the agent failed 2 times: it ended with exit code 7"
    )
    assert len(twice.worked) == 3


@pytest.mark.req("P-07")
@pytest.mark.asyncio
async def test_two_failed_turns_at_mending_ask_a_person_too() -> None:
    at = desk(turns=(DONE, FAILED), tests=(red("FAILED test_a"),))
    result = await CODE.build(at)
    assert result.stuck
    assert "failed 2 times at mending the tests" in result.reason
    assert [prompt for prompt, *_ in at.worked] == ["code-build", "code-fix", "code-fix"]


@pytest.mark.req("P-07")
@pytest.mark.asyncio
async def test_failing_turns_on_different_tasks_do_not_add_up() -> None:
    at = desk(turns=(FAILED, DONE, FAILED, DONE, FAILED, DONE))
    assert not (await CODE.build(at)).stuck


@pytest.mark.req("P-07")
@pytest.mark.asyncio
async def test_three_identical_test_failures_ask_a_person() -> None:
    same = [red(f"FAILED test_a - boom\n1 failed in {n}.0{n}s") for n in range(3)]
    at = desk(tests=same)
    result = await CODE.build(at)
    assert result.stuck
    assert "the tests failed 3 times in the same way: FAILED test_a - boom" in result.reason
    assert (at.tested, len(at.worked)) == (3, 3)


@pytest.mark.req("P-07")
@pytest.mark.asyncio
async def test_failures_that_differ_go_on_and_come_to_an_end() -> None:
    one, two = red("FAILED test_a - boom"), red("FAILED test_b - bang")
    mended = desk(tests=(one, one, two, two, one, GREEN))
    assert not (await CODE.build(mended)).stuck
    endless = desk(tests=[one, two] * 50)
    result = await CODE.build(endless)
    assert result.stuck
    assert "failed 3 times in the same way: FAILED test_b - bang" in result.reason
    assert (endless.tested, len(endless.worked)) == (6, 6)
    other = desk(tests=[red(f"FAILED test_{letter} - boom") for letter in "abcdefghijkl"])
    result = await CODE.build(other)
    assert "still fail after 10 attempts" in result.reason
    assert (other.tested, len(other.worked)) == (10, 10)


@pytest.mark.req("P-07")
@pytest.mark.asyncio
async def test_a_task_that_should_bring_tests_is_sent_back_without_them() -> None:
    at = desk(tests=(NO_TESTS, GREEN))
    assert not (await CODE.build(at)).stuck
    prompt, task, message = at.worked[1]
    assert (prompt, task) == ("code-fix", "read-the-file")
    assert "There are no tests" in message
    assert "unit tests" in message
    never = await CODE.build(desk(tests=(NO_TESTS,)))
    assert never.stuck
    assert "No tests were found" in never.reason


@pytest.mark.req("P-07")
@pytest.mark.asyncio
async def test_a_task_without_tests_of_its_own_needs_none_but_the_acceptance_tests_do() -> None:
    spec = SPEC.replace(" (tests)", "")
    at = ScriptedDesk(spec=spec, constraints=CONSTRAINTS, tests=(NO_TESTS, NO_TESTS, NO_TESTS, GREEN))
    assert not (await CODE.build(at)).stuck
    assert [task for _, task, _ in at.worked][2:] == ["acceptance-tests", "acceptance-tests"]
    assert "1. Counts words." in at.worked[-1][2]


@pytest.mark.asyncio
async def test_whoever_requires_no_tests_is_not_held_up_by_their_absence() -> None:
    at = desk(tests=(NO_TESTS,), thresholds={"code_require_tests": False})
    assert not (await CODE.build(at)).stuck
    assert await CODE.missing(replace(at, changed={"app.py": "x"})) == ""


@pytest.mark.req("P-07")
@pytest.mark.asyncio
async def test_a_runner_that_breaks_down_is_a_failure_and_not_an_absence_of_tests() -> None:
    broken = TestResults(0, 0, 0, "sh: pytest: not found", exit_code=127, command="pytest")
    assert not none_found(broken)
    assert none_found(replace(broken, exit_code=5))
    result = await CODE.build(desk(tests=(broken,), thresholds={"code_require_tests": False}))
    assert result.stuck
    assert "sh: pytest: not found" in result.reason


@pytest.mark.req("P-07")
@pytest.mark.asyncio
async def test_after_a_person_decided_the_build_goes_on_where_it_was_stuck() -> None:
    stuck = await CODE.build(desk(turns=(DONE, FAILED, FAILED)))
    at = desk(
        answers=({"question": "Which colour?", "answer": "Red"}, {"question": stuck.reason, "answer": "Split it"})
    )
    assert not (await CODE.build(at)).stuck
    assert [task for _, task, _ in at.worked] == ["count-the-words", "acceptance-tests"]
    assert "Split it" in at.worked[0][2]
    changed = replace(at, spec=SPEC.replace("Count the words", "Count the lines"), worked=[])
    await CODE.build(changed)
    assert [task for _, task, _ in changed.worked] == ["read-the-file", "count-the-lines", "acceptance-tests"]


results = st.one_of(
    st.just(GREEN),
    st.just(NO_TESTS),
    st.builds(red, st.text("abc FAILED\n0x1·", max_size=30), failed=st.integers(0, 3), total=st.integers(3, 5)),
    st.builds(
        TestResults,
        st.integers(0, 5),
        st.integers(0, 5),
        st.integers(0, 5),
        st.text(max_size=20),
        exit_code=st.integers(0, 6),
        command=st.sampled_from(["", "make test"]),
    ),
)


@pytest.mark.req("P-07")
@given(st.lists(st.sampled_from([DONE, FAILED]), min_size=1, max_size=30), st.lists(results, min_size=1, max_size=40))
def test_no_script_makes_it_go_on_for_ever_or_call_a_failing_build_done(
    turns: list[Worked], tests: list[TestResults]
) -> None:
    at = desk(turns=turns, tests=tests)
    result = asyncio.run(CODE.build(at))
    assert at.tested <= 3 * 10
    assert len(at.worked) <= 3 * 2 * 10
    assert not result.stuck or result.reason.startswith("Task `")
    assert result.stuck or played(tests, at.tested)[-1].all_pass
    tasks = [task for _, task, _ in at.worked]
    turned = [turn.success for turn in played(turns, len(tasks))]
    twice = [n for n in range(1, len(tasks)) if tasks[n] == tasks[n - 1] and not turned[n] and not turned[n - 1]]
    # Two failing exits on one task are the end of the build, and nothing comes after them.
    assert twice in ([], [len(tasks) - 1])
    assert not twice or result.stuck


def played(script: list[Any], count: int) -> list[Any]:
    return (script + script[-1:] * count)[:count]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("FAILED test_a in 0.12s", "FAILED test_a in 3.4 seconds"),
        ("E   <A object at 0x7f00a1>", "E   <A object at 0x7fbeef>"),
        ("FAILED test_a\nFAILED test_b", "FAILED test_b\nFAILED test_a"),
        ("E   open('/tmp/pytest-of-x/pytest-3/a0/out.txt')", "E   open('/tmp/pytest-of-x/pytest-4/a0/out.txt')"),
        ("E   no such file: '/tmp/tmpab12cd34'", "E   no such file: '/tmp/tmpzz99yy88'"),
        ("FAILED a.py:12: boom", "FAILED a.py:14: boom"),
        ("E   at 2025-01-01T10:00:00Z", "E   at 2025-01-01T10:00:09.123Z"),
        ("[gw0] FAILED test_a", "[gw1] FAILED test_a"),
        ("FAILED test_a\n....F [ 50%]\n1 failed, 4 passed in 1s", "FAILED test_a\n......F\n1 failed, 6 passed in 2s"),
        ("\x1b[31mFAILED\x1b[0m test_a", "FAILED test_a"),
        ("E   pid 123 died", "E   pid 99 died"),
        ("E   id 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "E   id 6fa459ea-ee8a-3ca4-894e-db77e160355e"),
        ("Using --randomly-seed=12\nsh: boom", "Using --randomly-seed=77\nsh: boom"),
        ("test_a ... FAIL\nok", "test_a ... FAIL"),
    ],
)
def test_failures_that_differ_in_noise_only_are_the_same(one: str, two: str) -> None:
    assert fingerprint(red(one)) == fingerprint(red(two))


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("FAILED test_a", "FAILED test_b"),
        ("FAILED test_a - assert 3 == 4", "FAILED test_a - assert 3 == 5"),
        ("FAILED test_a", "FAILED test_a\nFAILED test_b"),
        ("E   open('/tmp/x/in.txt')", "E   open('/tmp/x/out.txt')"),
        ("sh: a: not found", "sh: b: not found"),
    ],
)
def test_failures_that_differ_in_what_failed_are_not_the_same(one: str, two: str) -> None:
    assert fingerprint(red(one)) != fingerprint(red(two))
    assert fingerprint(red(one)) != fingerprint(red(one, failed=2))


@given(st.text(max_size=300), st.randoms())
def test_the_order_of_lines_never_matters(text: str, random: object) -> None:
    lines = text.splitlines()
    random.shuffle(lines)  # type: ignore[attr-defined]
    assert fingerprint(red("\n".join(lines))) == fingerprint(red(text))


# The queue


def test_the_same_specification_gives_the_same_tasks_as_the_pipeline_reads() -> None:
    theirs = specification.tasks(SPEC)
    assert [(task.id, task.title, task.tests) for task in theirs] == [
        (task.id, task.title, task.tests) for task in spec_tasks(SPEC)
    ]
    assert specification.criteria(CONSTRAINTS) == criteria_of(CONSTRAINTS)


titles = st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"], include_characters=" "), min_size=1, max_size=40
).filter(lambda text: text.strip() and any(char.isalnum() for char in text))


@pytest.mark.req("P-07")
@given(st.lists(st.tuples(titles, st.booleans()), min_size=1, max_size=8))
def test_tasks_of_a_rendered_specification_have_the_same_ids_for_builder_and_pipeline(
    given_tasks: list[tuple[str, bool]],
) -> None:
    answer = specification.Answer.model_validate(
        {
            "spec": {
                "overview": "A tool.",
                "structure": {
                    "architecture": "One module.\n\n- Tasks\n\n```\n### Tasks\n1. not me\n```",
                    "language": "Python",
                    "tasks": [{"title": title, "tests": tests} for title, tests in given_tasks],
                },
            },
            "constraints": {"context": "A tool.", "criteria": ["One", "Two", "Three", "Four", "Five"]},
        }
    )
    spec = specification.render_spec("Tool", answer, "code")
    theirs = specification.tasks(spec)
    assert [(task.id, task.tests) for task in spec_tasks(spec)] == [(task.id, task.tests) for task in theirs]
    constraints = specification.render_constraints("Tool", answer, "Code", CODE.severities)
    assert criteria_of(constraints) == ("One", "Two", "Three", "Four", "Five")


def test_a_specification_without_tasks_is_built_as_a_whole() -> None:
    assert [task.id for task in queue("# Tool\n\n- Language: Python\n", "")] == ["build-it", "acceptance-tests"]


def test_a_listed_task_for_the_acceptance_tests_is_not_done_twice() -> None:
    spec = "### Tasks\n\n1. Acceptance tests\n2. Write it\n"
    assert [task.id for task in queue(spec, "")] == ["write-it", "acceptance-tests"]


def test_ids_are_unique_and_hand_written_lists_are_read() -> None:
    spec = "### Tasks:\n\n- [ ] Parse\n  the file\n- Parse the file (tests)\n\nA remark.\n\n| a | b |\n"
    assert [(task.id, task.tests) for task in spec_tasks(spec)] == [
        ("parse-the-file", False),
        ("parse-the-file-2", True),
    ]


# What comes after the build


@pytest.mark.req("P-08")
@pytest.mark.asyncio
async def test_a_build_is_complete_with_changed_files_and_a_test() -> None:
    assert await CODE.missing(desk(changed={"app.py": "x"})) == ""
    assert await CODE.missing(desk()) == "The build changed no file."
    assert await CODE.missing(desk(changed={"app.py": "x"}, tests=(NO_TESTS,))) == "The build has no test."
    broken = TestResults(0, 0, 0, "boom", exit_code=2, command="make test")
    assert "exit code 2" in await CODE.missing(desk(changed={"app.py": "x"}, tests=(broken,)))
    assert await CODE.missing(desk(changed={"app.py": "x"}, tests=(red("FAILED test_a"),))) == ""


@pytest.mark.asyncio
async def test_a_review_is_asked_for_with_everything_it_needs() -> None:
    at = desk(changed={"app.py": "x"}, said=("{}",))
    assert await CODE.review(at, red("FAILED test_a")) == "{}"
    [(prompt, material)] = at.asked
    assert prompt == "code-review"
    assert material == {
        "constraints": CONSTRAINTS,
        "spec": SPEC,
        "files": "app.py",
        "tests": {
            "total": 3,
            "passed": 2,
            "failed": 1,
            "skipped": 0,
            "exit_code": 1,
            "new_failures": [],
            "failed_before_the_work_began": [],
            "output": "FAILED test_a",
        },
    }
    assert at.gathered == [("changes", "last_findings", "resources", "plan")]
    await CODE.review(at, None)
    assert at.asked[1][1]["tests"] == {}


ISSUES = (
    Issue(Severity.MINOR, "Wording", "cli.py", "Say it shorter."),
    Issue(Severity.CRITICAL, "Loses data", "store.py, save", "Write to a new file first."),
)


@pytest.mark.asyncio
async def test_a_fix_is_told_the_findings_and_the_failing_tests_and_may_not_weaken_them() -> None:
    at = desk()
    assert await CODE.fix(at, ISSUES, red("FAILED test_a with ``` in it")) == "Built it."
    [(prompt, task, message)] = at.worked
    assert (prompt, task) == ("code-fix", "review")
    assert message.index("FAILED test_a") < message.index("Loses data") < message.index("Wording")
    assert "- [critical] store.py, save: Loses data → Write to a new file first." in message
    assert message.count("Never delete, skip or weaken a test") == 1
    assert "````\nFAILED test_a" in message


@pytest.mark.parametrize(("issues", "tests"), [(ISSUES, GREEN), ((), GREEN), ((), None)])
@pytest.mark.asyncio
async def test_a_fix_without_failing_tests_forbids_weakening_them_as_well(
    issues: tuple[Issue, ...], tests: TestResults | None
) -> None:
    at = desk(turns=(Worked(success=True, text=""),))
    assert await CODE.fix(at, issues, tests) == "changed nothing"
    [(_, _, message)] = at.worked
    assert "Never delete, skip or weaken a test" in message
    assert "do not pass" not in message
    assert ("Loses data" in message) is bool(issues)


@pytest.mark.asyncio
async def test_a_fix_that_fails_twice_stops_with_the_reason() -> None:
    at = desk(turns=(FAILED,))
    with pytest.raises(AgentFailed, match="exit code 7"):
        await CODE.fix(at, ISSUES, GREEN)
    assert len(at.worked) == 2
