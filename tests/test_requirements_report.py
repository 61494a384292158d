"""The requirement report, seen from outside: pytest run on a small project of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PYTEST = Path(sys.executable).with_name("pytest")
PYPROJECT = """
[tool.pytest.ini_options]
testpaths = ["tests"]
addopts = "--import-mode=importlib --strict-markers -p no:cacheprovider"
markers = ["req(*ids): rows"]
"""
ROWS = """
# a comment
A-01  One passing test
A-02  One passing and one failing test
A-03  A skipped test
A-04  A test that is expected to fail
A-05  No test
A-06  A case of a test
A-07  A passing test that breaks while it cleans up
"""
TESTS = """
import pytest

@pytest.fixture
def broken_end():
    yield
    raise OSError

@pytest.mark.req("A-01", "A-02")
def test_one(): pass

@pytest.mark.req("A-02")
def test_two(): assert False

@pytest.mark.req("A-03")
@pytest.mark.skip
def test_three(): pass

@pytest.mark.req("A-04")
@pytest.mark.xfail
def test_four(): assert False

@pytest.mark.parametrize("case", [1, pytest.param(2, marks=pytest.mark.req("A-06"))])
def test_six(case): pass

@pytest.mark.req("A-07")
def test_seven(broken_end): pass
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    (tmp_path / "docs" / "requirements.txt").write_text(ROWS)
    (tmp_path / "tests" / "conftest.py").write_text('pytest_plugins = ["tests.requirements_report"]\n')
    shutil.copy(HERE / "requirements_report.py", tmp_path / "tests")
    (tmp_path / "tests" / "test_rows.py").write_text(TESTS)
    return tmp_path


def run_pytest(project: Path, *args: str) -> str:
    done = subprocess.run(
        [PYTEST, "-p", "xdist", *args],
        cwd=project,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_row_is_proven_only_by_tests_that_all_passed(project: Path, workers: str) -> None:
    printed = run_pytest(project, "--coverage-of-requirements", "-n", workers)

    states = {line[:4]: line[6:21].strip() for line in printed.splitlines() if line.startswith("A-0")}
    assert states == {
        "A-01": "proven",
        "A-02": "failing",
        "A-03": "no passing test",
        "A-04": "no passing test",
        "A-05": "no passing test",
        "A-06": "proven",
        "A-07": "failing",
    }
    assert "2 proven, 2 failing, 3 without a passing test" in printed


@pytest.mark.parametrize("workers", ["0", "2"])
def test_an_id_without_a_row_is_a_collection_error(project: Path, workers: str) -> None:
    (project / "tests" / "test_rows.py").write_text(TESTS.replace("A-06", "A-66"))

    printed = run_pytest(project, "-n", workers)

    assert "'A-66' is not a row of docs/requirements.txt" in printed
    assert "passed" not in printed


def test_nothing_is_printed_unless_asked_for(project: Path) -> None:
    assert "A-01" not in run_pytest(project, "-n0")
