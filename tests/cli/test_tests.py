"""`forge tests` and `forge project tests`: the command that runs tests is shown before it is used, and can be set."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from forge.app.projects.resolve import project_meant
from forge.pipeline.desk import TEST_RUNS
from forge.settings import load
from tests.cli.conftest import Forge
from tests.conftest import MakeRepo

pytestmark = [pytest.mark.req("P-07"), pytest.mark.usefixtures("workspace")]


@pytest.fixture
def repo(make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch) -> Path:
    repo = make_repo({"tests/test_a.py": "def test_a(): pass\n"})
    monkeypatch.chdir(repo)
    return repo


@pytest.mark.usefixtures("repo")
def test_the_command_of_a_repository_is_shown_set_and_unset(forge: Forge) -> None:
    assert forge("tests").out == "Tests: `python3 -m pytest -q` (tests/test_a.py)\n"
    assert forge("tests", "--set", "make check").out == "Tests: `make check` (set for the repository)\n"
    assert json.loads(forge("tests", "--json").out)["set_command"] == "make check"
    assert forge("tests", "--unset").out == "Tests: `python3 -m pytest -q` (tests/test_a.py)\n"
    assert forge("tests", "--set", "x", "--unset").code == 2
    assert forge("tests", "--set", " ").code == 2
    assert forge("tests", "--set", "make check", "--branch", "none").code == 1
    assert json.loads(forge("tests", "--json").out)["set_command"] == "", "a refused command changes nothing"


def test_a_project_shows_its_command_and_what_its_runs_came_to(forge: Forge, repo: Path) -> None:
    made = json.loads(forge("project", "new", "Party", "--repo", str(repo), "--agent", "builtin", "--json").out)
    assert forge("project", "tests", "party").out == "Tests: `python3 -m pytest -q` (tests/test_a.py)\n"
    set_ = forge("project", "tests", "party", "--set", "tox -q")
    assert set_.out == "Tests: `tox -q` (set for the project)\n"
    project = project_meant(load(os.environ), made["id"], repo)
    line = {"total": 3, "passed": 1, "failed": 2, "exit_code": 1, "commit": "c" * 40, "command": "tox -q", "skipped": 1}
    line |= {"outcome": "failed", "failures": ["test_new", "test_old"], "known": ["test_old"]}
    project.records.update(lambda _: {TEST_RUNS: json.dumps(line) + "\n"}, "tests: run")
    assert forge("project", "tests", "party").out.splitlines()[1] == (
        "  Last run: 1 of 3 pass, 1 skipped, new failures: test_new, failed before the work, too: test_old"
    )
    shown = json.loads(forge("project", "status", "party", "--json").out)["tests"]
    assert (shown["new_failures"], shown["known_failures"]) == (["test_new"], ["test_old"])
    line |= {"outcome": "cannot run", "missing": "the Python module `pytest`", "failures": [], "known": []}
    project.records.update(lambda _: {TEST_RUNS: json.dumps(line) + "\n"}, "tests: run")
    told = forge("project", "status", "party").out
    assert "Tests on cccccccccc: cannot run: the Python module `pytest`. Supply it where Forge runs commands" in told
