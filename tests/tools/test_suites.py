"""Test suites: which a repository has, and what a run came to, test by test."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.tools.suites.cases import Result, by_name
from forge.tools.suites.discovery import Form, Suite, named, suites
from forge.tools.suites.line import suite_line
from forge.tools.suites.outcome import Outcome, TestRun, compared, judged
from forge.tools.suites.reports import junit, results, tap

pytestmark = pytest.mark.req("P-07")

NewBench = Callable[[dict[str, str]], Any]
PASSED, FAILED, SKIPPED = Result.PASSED, Result.FAILED, Result.SKIPPED


@pytest.mark.parametrize(
    ("files", "commands"),
    [
        ({"README.md": "We use pytest.\n"}, []),
        ({"pyproject.toml": '[project]\ndescription = "not pytest"\n'}, []),
        ({"pyproject.toml": "[tool.pytest.ini_options\n"}, []),
        ({"setup.cfg": "[metadata]\ndescription = [tool:pytest]\n"}, []),
        ({"setup.cfg": "[tool:pytest]\n"}, ["python3 -m pytest -q"]),
        ({"test_a.py": '"""Tells of unittest and def test_x."""\n'}, []),
        ({"node_modules/x/test_a.py": "def test_a(): pass\n"}, []),
        ({"test_a.py": "class TestA:\n    def test_a(self): pass\n"}, ["python3 -m pytest -q"]),
        (
            {"test_a.py": "def test_a(): pass\n", "package.json": '{"scripts": {"test": "node --test"}}'},
            ["python3 -m pytest -q", "npm test --silent"],
        ),
        ({"package.json": '{"scripts": {"test": "echo no test specified && exit 1"}}'}, []),
        ({"package.json": '{"scripts": {"test": "mocha"}}', "Makefile": "test:\n\tnpm test\n"}, ["npm test --silent"]),
        ({"pom.xml": "", "go.mod": "module x\n"}, ["go test ./...", "mvn -q -o test"]),
    ],
)
def test_every_suite_is_found_and_what_is_only_mentioned_is_none(
    bench: NewBench, files: dict[str, str], commands: list[str]
) -> None:
    assert [suite.command for suite in suites(bench(files).vfs)] == commands


def ran(folder: Path, command: str, files: dict[str, str]) -> tuple[TestRun, str]:
    for name, text in files.items():
        (folder / name).write_text(text)
    line = suite_line(named(command.replace("python3", sys.executable)))
    done = subprocess.run(["sh", "-c", line.text], cwd=folder, capture_output=True, text=True, check=False)
    return line.read(done.returncode, done.stdout)


MIXED = """
import pytest
def test_good(): pass
def test_bad(): assert 1 == 2
@pytest.mark.skip(reason="later")
def test_later(): pass
@pytest.mark.parametrize("n", [1, 2])
def test_many(n): assert n == 1
"""


def test_pytest_tells_of_each_test(tmp_path: Path) -> None:
    run, printed = ran(tmp_path, "python3 -m pytest -q -p no:cacheprovider", {"test_a.py": MIXED})
    assert run.results == {
        "test_a::test_good": PASSED,
        "test_a::test_bad": FAILED,
        "test_a::test_later": SKIPPED,
        "test_a::test_many[1]": PASSED,
        "test_a::test_many[2]": FAILED,
    }
    assert run.outcome is Outcome.FAILED
    assert run.failed == ("test_a::test_bad", "test_a::test_many[2]")
    assert "<testsuite" not in printed
    assert "2 failed, 2 passed, 1 skipped" in printed


UNITTEST = """
import unittest
class Case(unittest.TestCase):
    def test_good(self): pass
    def test_bad(self):
        "With a line of its own."
        self.fail()
    @unittest.skip("later")
    def test_later(self): pass
"""


def test_unittest_tells_of_each_test(tmp_path: Path) -> None:
    run, _ = ran(tmp_path, "python3 -m unittest discover", {"test_a.py": UNITTEST})
    assert sorted((name.rpartition(".")[2], result) for name, result in run.results.items()) == [
        ("test_bad", FAILED),
        ("test_good", PASSED),
        ("test_later", SKIPPED),
    ]
    assert run.outcome is Outcome.FAILED


def test_a_missing_runner_is_no_failure(tmp_path: Path) -> None:
    run, _ = ran(tmp_path, "python3 -m pytset -q", {"test_a.py": MIXED})
    assert (run.outcome, run.missing) == (Outcome.CANNOT_RUN, "the Python module `pytset`")


def test_a_missing_dependency_of_all_tests_is_no_failure(tmp_path: Path) -> None:
    source = "import no_such_library\ndef test_a(): pass\n"
    run, _ = ran(tmp_path, "python3 -m pytest -q -p no:cacheprovider", {"test_a.py": source})
    assert (run.outcome, run.missing) == (Outcome.CANNOT_RUN, "the Python module `no_such_library`")


@pytest.mark.parametrize(
    ("exit_code", "output", "outcome", "missing"),
    [
        (0, "Ran 0 tests in 0.000s\n\nOK\n", Outcome.NO_TESTS, ""),
        (5, "no tests ran in 0.01s\n", Outcome.NO_TESTS, ""),
        (127, "forge: go: not found, neither on PATH nor on the branch\n", Outcome.CANNOT_RUN, "the program `go`"),
        (127, "sh: 1: jest: not found\n", Outcome.CANNOT_RUN, "the program `jest`"),
        (1, "Error: Cannot find module 'mocha'\n", Outcome.CANNOT_RUN, "the npm package `mocha`"),
        (2, "Traceback\nSyntaxError: bad\n", Outcome.CANNOT_RUN, "SyntaxError: bad"),
        (1, "", Outcome.CANNOT_RUN, "it printed nothing"),
        (1, "1 failed, 2 passed in 0.1s\n", Outcome.FAILED, ""),
        (1, "2 passed in 0.1s\n", Outcome.FAILED, ""),
        (0, "3 passed in 0.1s\n", Outcome.PASSED, ""),
        (1, "No module named 'x'\n1 failed, 2 passed in 0.1s\n", Outcome.FAILED, ""),
    ],
)
def test_the_outcome_follows_from_exit_code_and_what_ran(
    exit_code: int, output: str, outcome: Outcome, missing: str
) -> None:
    run = judged(Suite("x", ""), exit_code, output, "")
    assert (run.outcome, run.missing) == (outcome, missing)


TAP = """TAP version 13
# Subtest: a.test.js
    # Subtest: adds
    ok 1 - adds
    # Subtest: subtracts
    not ok 2 - subtracts
    ok 3 - later # SKIP not yet
    1..3
not ok 1 - a.test.js
ok 2 - alone
1..2
"""


def test_tap_names_tests_with_those_around_them() -> None:
    assert by_name(tap(TAP)) == {
        "a.test.js > adds": PASSED,
        "a.test.js > subtracts": FAILED,
        "a.test.js > later": SKIPPED,
        "alone": PASSED,
    }


def test_go_cargo_and_ticks_are_read() -> None:
    lines = '{"Action":"run","Package":"m","Test":"TestA"}\n{"Action":"fail","Package":"m","Test":"TestA"}\nnoise\n'
    assert results(
        Form.GO, lines + '{"Action":"pass","Package":"m","Test":"TestB"}\n{"Action":"fail","Package":"m"}\n', ""
    ) == {
        "m::TestA": FAILED,
        "m::TestB": PASSED,
    }
    cargo = "test tests::adds ... ok\ntest tests::odd ... FAILED\ntest tests::slow ... ignored\n"
    assert results(Form.CARGO, cargo, "") == {"tests::adds": PASSED, "tests::odd": FAILED, "tests::slow": SKIPPED}
    jest = "  sums\n    ✓ adds (2 ms)\n    ✕ subtracts\n    ○ skipped later\n"
    assert results(Form.TEXT, jest, "") == {"adds": PASSED, "subtracts": FAILED, "skipped later": SKIPPED}


@pytest.mark.parametrize("report", ["", "<", "<!DOCTYPE x [<!ENTITY a 'b'>]><testsuite/>", "<testsuite/>", "{}"])
def test_a_report_that_is_none_tells_nothing(report: str) -> None:
    assert junit(report) == ()


@given(st.text(), st.text(), st.sampled_from(Form))
def test_no_output_breaks_the_reading(output: str, report: str, form: Form) -> None:
    results(form, output, report)


def test_only_new_failures_count_and_a_shortfall_has_its_reason() -> None:
    before = {"a": PASSED, "b": FAILED, "c": PASSED, "d": PASSED}
    found = compared(before, {"a": FAILED, "b": FAILED, "d": SKIPPED, "e": PASSED})
    assert (found.new, found.known, found.gone, found.skipped) == (("a",), ("b",), ("c",), ("d",))
    assert found.shortfall == "1 test fewer than before: c; 1 test skipped that ran before: d"
    assert compared(before, before).shortfall == ""
