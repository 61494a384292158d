"""`forge test`: runs the tests of a branch without a checkout; its exit code and its lines tell what came of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Forge
from tests.conftest import MakeRepo

pytestmark = [pytest.mark.req("B-02"), pytest.mark.usefixtures("workspace")]

CASES = "import unittest\n\nclass Cart(unittest.TestCase):\n    def test_empty(self): pass\n"
BROKEN = f"{CASES}    def test_total(self):\n        self.assertEqual(3, 4)\n"


@pytest.fixture
def repo(make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch) -> Path:
    repo = make_repo({"test_cart.py": BROKEN})
    monkeypatch.chdir(repo)
    return repo


@pytest.mark.usefixtures("repo")
def test_a_failure_is_shown_with_its_line_and_the_exit_code_tells(forge: Forge) -> None:
    done = forge("test")
    assert done.code == 1
    first, last = done.out.splitlines()
    assert first == "✗ test_cart.py:6: test_cart.Cart.test_total: AssertionError: 3 != 4"
    assert last.startswith("Failed: 1 test passed, 1 failed in ")
    assert last.endswith("`python3 -m unittest discover`")
    assert forge("test", "test_empty").code == 0
    again = forge("test")
    assert (again.code, "--again runs the tests again" in again.err) == (1, True)
    document = json.loads(forge("test", "--json").out)
    assert (document["outcome"], document["reused"], document["tests"][0]["line"]) == ("failed", True, 6)
    assert "selector" not in document["tests"][0]


def test_another_branch_is_tested_without_a_checkout(forge: Forge, repo: Path) -> None:
    assert forge("branch", "new", "ai/mend").code == 0
    assert forge("file", "save", "test_cart.py", "--branch", "ai/mend", stdin=CASES.encode()).code == 0
    done = forge("test", "--branch", "ai/mend")
    assert (done.code, done.out.startswith("Passed: 1 test passed in ")) == (0, True)
    assert (repo / "test_cart.py").read_text() == BROKEN


@pytest.mark.usefixtures("repo")
def test_the_command_is_shown_and_set_beside_the_run(forge: Forge) -> None:
    assert forge("test", "--show").out == "Tests: `python3 -m unittest discover` (test_cart.py)\n"
    set_ = forge("test", "--set", "no-such-runner --all")
    assert set_.out == "Tests: `no-such-runner --all` (set for the repository)\n"
    done = forge("test")
    assert done.code == 4
    assert done.out.startswith("Cannot run: the program `no-such-runner` (`no-such-runner --all`);")
    assert forge("test", "name", "--unset").code == 2
    assert forge("test", "--unset").out == "Tests: `python3 -m unittest discover` (test_cart.py)\n"


@pytest.mark.usefixtures("repo")
def test_a_limit_and_a_pattern_that_matches_nothing_have_their_codes(forge: Forge) -> None:
    assert forge("test", "--set", "sleep 60").code == 0
    slow = forge("test", "--timeout", "1")
    assert (slow.code, "took longer than 1 s" in slow.out) == (3, True)
    assert forge("test", "--unset").code == 0
    assert forge("test", "-b", "gone").code == 1
