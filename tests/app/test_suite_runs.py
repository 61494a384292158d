"""Tests of a build branch, really run: every suite counts, and a run of the same commit is not repeated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forge.app.projects.suite_runs import run_tests
from forge.app.projects.test_changes import evasions, weakened
from forge.errors import InvalidInput
from forge.git import Repository
from forge.pipeline.desk import figures_of
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


# The directory of a branch is kept between commands, and so is a file that git ignores.
FLAKY = """import pathlib, unittest

class T(unittest.TestCase):
    def test_a(self):
        seen = pathlib.Path("seen.tmp")
        again, _ = seen.exists(), seen.touch()
        self.assertTrue(again)

    def test_b(self): self.assertTrue(1)
"""


def test_a_failure_is_run_again_once_and_marked_where_it_passes(make_repo: MakeRepo) -> None:
    found = run_tests(made(make_repo, {"test_a.py": FLAKY, ".gitignore": "*.tmp\n"}), "main", plain=True)
    assert (found.outcome, found.failures, found.flaky) == ("passed", (), ("test_a.T.test_a",))
    assert found.holds
    assert figures_of(found) == "2 of 2 pass, 1 flaky: test_a.T.test_a"
    assert "the failed tests, run again" in found.details


def test_a_test_file_that_cannot_be_loaded_is_named_and_not_counted_as_a_test(make_repo: MakeRepo) -> None:
    broken = {"test_a.py": "import unittest\nfrom nowhere_at_all import x\n"}
    alone = run_tests(
        made(make_repo, {"test_a.py": "import unittest\nclass T(unittest.TestCase):\n    def test_a(:\n"}),
        "main",
        plain=True,
    )
    assert (alone.outcome, alone.total, alone.broken, alone.lacks_runner) == ("cannot run", 0, ("test_a.py",), False)
    assert alone.missing.startswith("the test file `test_a.py` cannot be loaded: SyntaxError")
    beside = run_tests(made(make_repo, {**broken, "test_b.py": PASSES}), "main", plain=True)
    assert (beside.outcome, beside.failures, beside.passed) == ("failed", ("test_a.py",), 1)


@pytest.mark.parametrize(
    ("path", "before", "after", "sign"),
    [
        ("conftest.py", None, "import os\nos._exit(0)\n", "os._exit("),
        ("conftest.py", None, "import sys\nsys.exit(0)\n", "sys.exit("),
        ("tests/conftest.py", "import pytest\n", "collect_ignore = ['test_old.py']\n", "collect_ignore"),
        ("conftest.py", None, "def pytest_collection_modifyitems(items): items.clear()\n", "pytest_collection_modif"),
        ("conftest.py", None, "def pytest_runtest_makereport(item): ...\n", "pytest_runtest_makereport"),
        ("conftest.py", None, "def pytest_sessionfinish(session): session.exitstatus = 0\n", "pytest_sessionfinish"),
        ("conftest.py", None, "def pytest_configure(config): open(config.option.xmlpath, 'w')\n", "xmlpath"),
        (
            "app.py",
            "x = 1\n",
            "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n",
            "unittest.TestCase",
        ),
        ("app.py", "x = 1\n", "import unittest\nsetattr(unittest.TestCase, 'run', print)\n", "setattr(unittest"),
        ("sitecustomize.py", None, "raise SystemExit(0)\n", "SystemExit"),
        ("pytest.ini", "[pytest]\n", "[pytest]\naddopts = --ignore=tests/test_old.py\n", "--ignore"),
        ("pytest.ini", None, "[pytest]\naddopts = -k parse\n", "-k p"),
        ("pyproject.toml", "", '[tool.pytest.ini_options]\ntestpaths = ["new"]\n', "testpaths"),
        ("vitest.config.ts", None, 'export default {test: {exclude: ["old"]}}\n', "exclude:"),
        ("package.json", '{"scripts": {"test": "node --test"}}', '{"scripts": {"test": "true"}}', "the script `test`"),
        ("test_b.py", None, "def test_criterion_1():\n    assert True\n", "assert True"),
        ("test_b.py", None, "class T:\n    def test_a(self): self.assertEqual(1, 1)\n", "assertEqual(1, 1)"),
        ("a.test.js", None, 'test("criterion 1", () => expect(true).toBe(true));\n', "expect(true)"),
        ("test_b.py", None, "import sys\nsys.exit(0)\n", "sys.exit("),
    ],
)
def test_what_can_hide_a_failing_test_is_named(
    make_repo: MakeRepo, path: str, before: str | None, after: str, sign: str
) -> None:
    repo = made(make_repo, {"README.md": "x\n", **({path: before} if before is not None else {})})
    since = repo.resolve("main")
    files = repo.workspace("main")
    files.write_file(path, after)
    now = files.commit("change")
    [found] = evasions(repo, since, now)
    assert found.startswith(f"{path} (")
    assert sign in found


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("conftest.py", "import pytest\n\n@pytest.fixture\ndef place(tmp_path):\n    return tmp_path\n"),
        ("cli.py", "import sys\n\ndef main():\n    sys.exit(0)\n"),
        ("test_a.py", "def test_a():\n    with pytest.raises(SystemExit):\n        main()\n    assert total() == 1\n"),
        ("pyproject.toml", '[project]\nname = "x"\n'),
        ("package.json", '{"scripts": {"build": "x"}}'),
        ("a.test.js", "expect(sum(1)).toBe(true)\n"),
    ],
)
def test_ordinary_changes_hide_nothing(make_repo: MakeRepo, path: str, text: str) -> None:
    repo = made(make_repo, {"README.md": "x\n"})
    since = repo.resolve("main")
    files = repo.workspace("main")
    files.write_file(path, text)
    assert evasions(repo, since, files.commit("change")) == ()
