"""A damaged branch, and a HEAD whose branch is gone, at the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Forge
from tests.conftest import Git, MakeRepo
from tests.support.soak.hostile.interference import RAW_WORDS

pytestmark = pytest.mark.req("G-01", "X-04")


@pytest.fixture
def place(make_repo: MakeRepo, git: Git) -> Path:
    place = make_repo({"a.txt": "hello\n"})
    git(place, "branch", "good")
    (place / ".git/refs/heads/missing").write_text("12345678" * 5 + "\n")
    (place / ".git/refs/heads/torn").write_text("")
    return place


def test_damaged_branches_are_listed_as_such_among_the_others(place: Path, forge: Forge) -> None:
    ran = forge("-C", str(place), "--json", "branch", "list")
    assert ran.code == 0
    assert {each["name"]: each["damage"] for each in ran.document} == {
        "good": None,
        "main": None,
        "missing": "Its commit 123456781234 is not in the repository.",
        "torn": "Its file names no commit.",
    }
    shown = forge("-C", str(place), "branch", "list").out
    assert "damaged: Its file names no commit." in shown
    assert "good" in shown


@pytest.mark.parametrize("name", ["missing", "torn"])
@pytest.mark.parametrize("command", ["log {}", "file list --branch {}", "diff main {}", "merge {} --into good"])
def test_nobody_reads_the_words_of_git(place: Path, forge: Forge, command: str, name: str) -> None:
    ran = forge("-C", str(place), *command.format(name).split())
    assert ran.code != 0
    assert "→" in ran.err
    assert not [raw for raw in RAW_WORDS if raw in ran.err], ran.err


@pytest.mark.parametrize("command", ["session list", "graph", "log", "branch list --kept", "file list", "doctor"])
def test_what_can_be_read_is_shown(place: Path, forge: Forge, command: str) -> None:
    ran = forge("-C", str(place), *command.split())
    assert ran.code == (1 if command == "doctor" else 0), ran.err


@pytest.mark.parametrize(
    "command",
    [
        "log",
        "file list",
        "file show a.txt",
        "file search hello",
        "blame a.txt",
        "branch new x",
        "merge main",
        "exec -- ls",
    ],
)
def test_a_head_whose_branch_is_gone_is_not_taken_for_an_empty_repository(
    place: Path, forge: Forge, git: Git, command: str
) -> None:
    git(place, "symbolic-ref", "HEAD", "refs/heads/gone")
    ran = forge("-C", str(place), *command.split())
    assert ran.code != 0
    assert "HEAD names the branch gone, which has no commit; other branches have commits." in ran.err
    assert "main" in ran.err
