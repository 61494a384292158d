"""Shapes of test runs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from forge.api.shapes.base import Given, Shape, Text, shown, taken

Outcome = Literal["passed", "failed", "cannot run", "no tests"]


class NewTestRun(Given):
    pattern: str = Field(default="", max_length=500, description="A test file, or a part of a test's name.")
    again: bool = Field(default=False, description="Run them although the same files were tested before.")
    seconds: float | None = Field(default=None, ge=1, le=86_400, description="The limit of time; null: ten minutes.")
    model_config = taken(pattern="tests/test_app.py", again=False)


class TestRunBegunShape(Shape):
    __test__ = False

    run: str
    topic: Text = Field(description="Where its events are published.")
    after: int = Field(description="The id of the last event before it.")
    running: bool = Field(description="It had begun before: a branch has one test run at a time.")
    model_config = shown(run="5f0c1c5d", topic="branch:0a1b2c3d4e5f:ai/first", after=12, running=False)


class TestCaseShape(Shape):
    __test__ = False

    name: Text
    result: Literal["passed", "failed", "skipped"]
    file: Text = Field(description="Where it failed, else where it is defined; empty if unknown.")
    line: int = Field(description="0 if unknown.")
    seconds: float | None
    message: Text = Field(description="What the runner says of a failure.")
    flaky: bool = Field(description="It failed first and passed when it was run again.")


class BranchTestRunShape(Shape):
    """A run of the tests of a branch."""

    __test__ = False

    branch: Text
    commit: str | None
    current: bool = Field(description="Whether the branch still has the files that were tested.")
    command: Text
    pattern: Text
    outcome: Outcome
    passed: int
    failed: int
    skipped: int
    flaky: list[Text]
    seconds: float
    started: float
    reused: bool
    missing: Text = Field(description="What has to be supplied before the tests can run, or why the run was stopped.")
    stopped: bool = Field(description="A limit or a cancellation ended it early.")
    tests: list[TestCaseShape] = Field(description="Failed ones first.")
    left_out: int = Field(description="Tests that are not in the list.")
    output: Text = Field(description="The end of what the runners printed.")
    model_config = shown(
        branch="ai/first",
        commit="5bc1f9e3a7d2c4b6a8091f2e3d4c5b6a79881726",
        current=True,
        command="python3 -m pytest -q",
        pattern="",
        outcome="failed",
        passed=11,
        failed=1,
        skipped=0,
        flaky=[],
        seconds=1.4,
        started=1794990000.0,
        reused=False,
        missing="",
        stopped=False,
        tests=[
            {
                "name": "tests.test_app::test_login",
                "result": "failed",
                "file": "tests/test_app.py",
                "line": 14,
                "seconds": 0.01,
                "message": "AssertionError: assert 404 == 200",
                "flaky": False,
            }
        ],
        left_out=0,
        output="1 failed, 11 passed in 1.20s\n",
    )


class TestRunStateShape(Shape):
    """`end` is null while it runs; `after` is the id of the branch's last event."""

    __test__ = False

    end: BranchTestRunShape | None
    after: int
    model_config = shown(end=None, after=12)


class TestsOfBranchShape(Shape):
    __test__ = False

    last: BranchTestRunShape | None
    running: str | None = Field(description="The id of the run that is under way.")
    since: float | None
    model_config = shown(last=None, running="5f0c1c5d", since=1794990000.0)


class TestsCancelledShape(Shape):
    __test__ = False

    cancelled: bool
    model_config = shown(cancelled=True)
