"""Commands and tests as tools: really run, confined, with what they changed and how they ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from forge.git import Change, CollectedChange, WorkInProgressVFS
from forge.tools.commands import CommandOutcome
from forge.tools.registry import builtin_tools
from forge.tools.suites.discovery import suites
from forge.tools.suites.text import Counts, counts, failures
from tests.support.toolboxes import open_toolbox
from tests.tools.conftest import Bench

NewBench = Callable[..., Bench]

pytestmark = pytest.mark.req("G-11")


class Canned:
    """A runner that gives one outcome and remembers what it was asked."""

    def __init__(self, outcome: CommandOutcome, writes: dict[str, str] | None = None) -> None:
        self.outcome = outcome
        self.writes = writes or {}
        self.lines: list[tuple[str, float]] = []

    def __call__(self, vfs: WorkInProgressVFS, command: Sequence[str], *, seconds: float) -> CommandOutcome:
        self.lines.append((command[-1], seconds))
        for path, content in self.writes.items():
            vfs.write_file(path, content)
        return self.outcome


def canned(b: Bench, outcome: CommandOutcome, writes: dict[str, str] | None = None) -> Canned:
    runner = Canned(outcome, writes)
    b.box = open_toolbox(builtin_tools(runner))
    return runner


@pytest.mark.req("X-06")
def test_a_command_sees_pending_edits_and_its_changes_come_back(bench: NewBench) -> None:
    b = bench()
    b.ok("write_file", path="in.txt", content="edited\n")
    said = b.ok("run_command", command="echo first; echo second >&2; cat in.txt; tr a-z A-Z < in.txt > out.txt; exit 3")
    assert said == "Exit code 3.\nfirst\nsecond\nedited\nIt changed 1 file: out.txt (added)."
    assert b.text("out.txt") == "EDITED\n"
    b.ok("undo_edit", path="out.txt")
    assert not b.vfs.file_exists("out.txt")


@pytest.mark.req("X-06", "G-12")
def test_a_command_cannot_reach_the_network_or_change_approvals(bench: NewBench) -> None:
    b = bench()
    said = b.ok(
        "run_command",
        command="echo '{}' > .forge/approved_tools.json; rm .forge/session/0001.json; echo a > a.txt; "
        "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 22), 2)' || echo none",
    )
    assert "none" in said
    for path in (".forge/approved_tools.json", ".forge/session/0001.json"):
        assert f"Note: {path}: not collected: it is a record that only Forge writes." in said
    assert list(b.vfs.pending) == ["a.txt"]


def test_a_command_that_takes_too_long_is_ended_and_changes_nothing(bench: NewBench) -> None:
    b = bench()
    said = b.no("run_command", command="echo begun; echo x > x.txt; sleep 60", timeout_seconds=3)
    assert "was ended after 3 s; nothing it changed was kept. Its last output:\nbegun" in said


def test_a_command_that_reaches_a_limit_changes_nothing(bench: NewBench) -> None:
    b = bench()
    canned(b, CommandOutcome(137, "much\n", limited=("memory",)), {"half.txt": "half"})
    assert "by the limit of memory" in b.no("run_command", command="x")
    canned(b, CommandOutcome(0, "much\n", limited=("output",)), {"whole.txt": "whole"})
    assert "reached the limit of output" in b.ok("run_command", command="x")
    assert list(b.vfs.pending) == ["whole.txt"]


def test_of_long_output_the_end_is_shown(bench: NewBench) -> None:
    b = bench()
    said = b.ok("run_command", command="seq 1 20000")
    assert said.endswith("\n20000")
    assert "lines before this are not shown]" in said
    assert len(said) < 17_000


def test_many_changed_files_are_named_up_to_a_point(bench: NewBench) -> None:
    b = bench()
    changes = tuple(CollectedChange(f"f{n}.txt", Change.ADDED) for n in range(100))
    canned(b, CommandOutcome(0, "", changes=changes, notes=("big.bin: not collected",)))
    said = b.ok("run_command", command="x")
    assert "It changed 100 files: f0.txt (added)" in said
    assert "and 70 more." in said
    assert "Note: big.bin: not collected." in said


CASE = "import unittest\n\n\nclass Case(unittest.TestCase):\n    pass\n"


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"pytest.ini": ""}, "python3 -m pytest -q"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "python3 -m pytest -q"),
        ({"t/test_a.py": "def test_a():\n    pass\n"}, "python3 -m pytest -q"),
        ({"tests/test_a.py": CASE}, "python3 -m unittest discover -s tests"),
        (
            {"tests/test_a.py": CASE, "tests/__init__.py": ""},
            "python3 -m unittest discover -s tests -t .",
        ),
        ({"test_a.py": CASE}, "python3 -m unittest discover"),
        ({"package.json": '{"scripts": {"test": "jest"}}'}, "npm test --silent"),
        ({"go.mod": "module x\n"}, "go test ./..."),
        ({"Cargo.toml": ""}, "cargo test --offline"),
        ({"Makefile": "all:\n\ntest: all\n\ttrue\n"}, "make test"),
    ],
)
def test_the_test_command_is_found_from_the_files(bench: NewBench, files: dict[str, str], command: str) -> None:
    assert suites(bench(files).vfs)[0].command == command


@pytest.mark.parametrize(
    "files",
    [
        {"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'},
        {"package.json": "[1"},
        {"package.json": '{"scripts": []}'},
        {"Makefile": "tests:\n"},
        {"pyproject.toml": b"\xff\xfe"},
    ],
)
def test_without_tests_the_model_is_told_what_was_looked_for(bench: NewBench, files: dict[str, str | bytes]) -> None:
    assert "No tests were found" in bench(files).no("run_tests")


def test_tests_are_really_run_and_counted(bench: NewBench) -> None:
    cases = "    def test_a(self): pass\n    def test_b(self): self.fail('no')\n"
    source = f"import unittest\n\nclass T(unittest.TestCase):\n{cases}"
    b = bench({"test_x.py": source})
    said = b.ok("run_tests")
    assert said.startswith("Tests FAILED: 1 passed, 1 failed (`python3 -m unittest discover`, exit code 1).")
    assert "- test_x.py:5: test_x.T.test_b: AssertionError: no" in said
    b.ok("search_replace", path="test_x.py", search="self.fail('no')", replace="pass")
    assert b.ok("run_tests").startswith("Tests passed: 2 passed, 0 failed")
    assert b.ok("run_tests", arguments=["-k", "test_a"]).startswith("Tests passed: 1 passed")


def test_a_given_command_and_quoted_arguments_are_used(bench: NewBench) -> None:
    b = bench()
    runner = Canned(CommandOutcome(0, "fine\n"))
    b.box = open_toolbox(builtin_tools(runner, test_command="./check all"))
    assert b.ok("run_tests", arguments=["a b", "$(rm x)"]).startswith("Tests passed (`./check all 'a b' '$(rm x)'`")
    assert runner.lines == [("./check all 'a b' '$(rm x)' 2>&1", 300)]


@pytest.mark.parametrize(
    ("output", "passed", "failed", "skipped"),
    [
        ("....F\n=== 1 failed, 4 passed, 2 skipped in 0.12s ===\n", 4, 1, 2),
        ("1 failed, 4 passed in 0.12s\n", 4, 1, 0),
        ("3 passed, 1 error in 1.2s\n", 3, 1, 0),
        ("Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=1, skipped=1)\n", 2, 2, 1),
        ("Ran 1 test in 0.1s\n\nOK\n", 1, 0, 0),
        (
            "test result: ok. 5 passed; 0 failed; 1 ignored\ntest result: FAILED. 1 passed; 2 failed; 0 ignored\n",
            6,
            2,
            1,
        ),
        ("ok  \tx/a\t0.1s\nFAIL\tx/b [build failed]\nFAIL\n", 1, 1, 0),
        ("Tests:       1 failed, 1 skipped, 5 passed, 7 total\n", 5, 1, 1),
        (" Tests  1 failed | 5 passed (6)\n", 5, 1, 0),
        ("  5 passing (10ms)\n  1 failing\n", 5, 1, 0),
        ("# tests 3\n# pass 2\n# fail 1\n", 2, 1, 0),
    ],
)
def test_counts_are_read_from_the_usual_outputs(output: str, passed: int, failed: int, skipped: int) -> None:
    assert counts(output) == Counts(passed, failed, skipped)


def test_nothing_is_counted_where_nothing_is_said() -> None:
    assert counts("all is well\n") is None


def test_first_failures_are_named_once(bench: NewBench) -> None:
    output = "FAILED tests/test_a.py::test_b - assert 1\n" * 2 + "--- FAIL: TestX (0.0s)\nnot ok 3 - it\n  ✕ adds\n"
    assert failures(output, 10) == (
        "FAILED tests/test_a.py::test_b - assert 1",
        "--- FAIL: TestX (0.0s)",
        "not ok 3 - it",
        "✕ adds",
    )


def test_every_suite_is_run_and_none_hides_another(bench: NewBench) -> None:
    source = "import unittest\n\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"
    package = '{"scripts": {"test": "sh check.sh"}}'
    b = bench({"test_x.py": source, "package.json": package})
    passed = "test_a (test_x.T.test_a) ... ok\n\nRan 1 test in 0.0s\n\nOK\n"

    def runner(vfs: WorkInProgressVFS, command: Sequence[str], *, seconds: float) -> CommandOutcome:
        is_npm = command[-1].startswith("npm")
        return CommandOutcome(3, "  0 passing\n  1 failing\n") if is_npm else CommandOutcome(0, passed)

    b.box = open_toolbox(builtin_tools(runner))
    said = b.ok("run_tests")
    assert "Tests passed: 1 passed, 0 failed (`python3 -m unittest discover`" in said
    assert "Tests FAILED: 0 passed, 1 failed (`npm test --silent`, exit code 3)." in said
    only = b.ok("run_tests", arguments=["-k", "a"])
    assert "npm" not in only.partition("Other tests here:")[0]
    assert "Other tests here: npm test --silent" in only


def test_a_missing_runner_is_told_as_what_is_missing(bench: NewBench) -> None:
    b = bench({"test_x.py": "def test_a(): pass\n"})
    lacking = CommandOutcome(1, "/usr/bin/python3: No module named pytest\n")
    b.box = open_toolbox(builtin_tools(Canned(lacking)))
    assert "Tests cannot run: the Python module `pytest` (`python3 -m pytest -q`" in b.ok("run_tests")
