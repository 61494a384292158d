"""Tests of a build branch, really run: every suite counts, and a run of the same commit is not repeated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forge.app.projects.suite_runs import run_tests, weakened
from forge.errors import InvalidInput
from forge.git import Repository
from forge.tools.suites.command import command_of, set_repository_command

pytestmark = pytest.mark.req("P-07")

PASSES = "import unittest\n\nclass T(unittest.TestCase):\n    def test_a(self): self.assertTrue(True)\n"
MakeRepo = Callable[..., Path]


def test_a_passing_suite_hides_no_failing_one(make_repo: MakeRepo) -> None:
    repo = made(make_repo, {"test_a.py": PASSES, "package.json": '{"scripts": {"test": "exit 1"}}'})
    found = run_tests(repo, "main", plain=True)
    assert found.command == "python3 -m unittest discover; npm test --silent"
    assert (found.passed, found.failed) == (1, 0)
    assert found.exit_code != 0
    assert not found.holds
    assert found.cannot_run


def test_results_have_names_and_a_run_of_the_same_commit_is_reused(make_repo: MakeRepo) -> None:
    repo = made(make_repo, {"test_a.py": PASSES})
    found = run_tests(repo, "main", plain=True)
    assert (found.outcome, dict(found.results)) == ("passed", {"test_a.T.test_a": "passed"})
    assert run_tests(repo, "main", plain=True, known=found) is found
    other = run_tests(repo, "main", plain=True, known=found, command="python3 -m unittest test_a")
    assert (other is found, other.outcome, other.command) == (False, "passed", "python3 -m unittest test_a")


def test_fewer_assertions_in_a_test_file_are_told(make_repo: MakeRepo) -> None:
    repo = made(make_repo, {"test_a.py": PASSES})
    before = repo.resolve("main")
    files = repo.workspace("main")
    files.write_file("test_a.py", PASSES.replace("self.assertTrue(True)", "pass"))
    files.write_file("a.py", "x = 1\n")
    after = files.commit("weaker")
    assert weakened(repo, before, after) == ("test_a.py (1 → 0)",)
    assert weakened(repo, after, before) == ()


def test_the_project_decides_before_the_repository_and_the_repository_before_the_files(
    make_repo: MakeRepo, git: Callable[..., str]
) -> None:
    repo = made(make_repo, {"test_a.py": PASSES})

    def told(project: str = "") -> tuple[str, str]:
        now = Repository.open(repo.git_dir.parent)
        found = command_of(now, now.commit_vfs("main"), project=project)
        return found.origin, str(found)

    assert told() == ("files", "`python3 -m unittest discover` (test_a.py)")
    git(repo.git_dir.parent, "config", "forge.testCommand", "make check")
    assert told() == ("repository", "`make check` (set for the repository)")
    set_repository_command(repo, " make test ")
    assert told() == ("repository", "`make test` (set for the repository)")
    assert told("tox") == ("project", "`tox` (set for the project)")
    set_repository_command(repo, "")
    assert told() == ("repository", "`make check` (set for the repository)")


def test_a_test_command_is_one_line(make_repo: MakeRepo) -> None:
    with pytest.raises(InvalidInput):
        set_repository_command(made(make_repo, {"a": ""}), "make\ntest")


def made(make_repo: MakeRepo, files: dict[str, str]) -> Repository:
    return Repository.open(make_repo(files))
