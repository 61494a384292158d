"""`forge undo`: one, several, by id, and what it says of checkouts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.cli.conftest import Forge, masked
from tests.conftest import Git, MakeRepo


@pytest.fixture
def repo(make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch, forge: Forge) -> Path:
    """Three saves on main and a branch."""
    repo = make_repo({"a.txt": "0\n"})
    monkeypatch.chdir(repo)
    for number in (1, 2, 3):
        assert forge("file", "save", "a.txt", "-m", f"save {number}", stdin=f"{number}\n").code == 0
    assert forge("branch", "new", "topic", "--from", "main~1").code == 0
    return repo


def test_the_last_operation_is_taken_back_and_then_the_one_before(forge: Forge, repo: Path, git: Git) -> None:
    assert masked(forge("undo").out) == "Took back: new branch topic at <id>\n"
    assert git(repo, "branch", "--list", "topic") == ""
    done = forge("undo")
    assert (done.code, done.out, done.err) == (0, f"Took back: save 3\nYour checkout {repo} follows.\n", "")
    assert (repo / "a.txt").read_text() == "2\n"
    assert git(repo, "status", "--porcelain") == ""


def test_several_are_taken_back_at_once(forge: Forge, repo: Path) -> None:
    done = forge("undo", "--steps", "3", "--json")
    assert done.code == 0
    reasons = [masked(operation["reason"]) for operation in done.document["operations"]]
    assert reasons == ["undo: new branch topic at <id>", "undo: save 3", "undo: save 2"]
    assert (repo / "a.txt").read_text() == "1\n"


def test_when_there_are_fewer_what_was_taken_back_is_told_with_the_reason_for_stopping(
    forge: Forge, repo: Path
) -> None:
    done = forge("undo", "--steps", "5")
    assert done.code == 1
    assert masked(done.out, repo) == snapshot("""\
Took back: new branch topic at <id>
Took back: save 3
Your checkout <repo> follows.
Took back: save 2
Your checkout <repo> follows.
Took back: save 1
Your checkout <repo> follows.
""")
    assert done.err.startswith("forge: Forge has moved nothing here that is left to undo.\n  → `forge undo --list`")
    assert forge("undo", "--json").error == "nothing_to_undo"


def test_programs_get_both_what_was_done_and_the_error(forge: Forge, repo: Path) -> None:
    done = forge("undo", "--steps", "9", "--json")
    assert done.code == 1
    assert len(done.document["operations"]) == 4
    assert done.document["error"]["code"] == "nothing_to_undo"


def test_an_undo_is_taken_back_by_its_id(forge: Forge, repo: Path) -> None:
    (undone,) = forge("undo", "--json").document["operations"]
    (again,) = forge("undo", undone["id"], "--json").document["operations"]
    assert again["undoes"] == undone["id"]
    assert [branch["name"] for branch in forge("branch", "list", "--json").document] == ["main", "topic"]
    # The branch is there again, so its making can be undone again.
    assert masked(forge("undo").out) == "Took back: new branch topic at <id>\n"


def test_an_older_operation_stays_when_later_ones_stand_on_it(forge: Forge, repo: Path, git: Git) -> None:
    before = git(repo, "for-each-ref")
    first = forge("undo", "--list", "--json").document[-1]
    assert first["reason"] == "save 1"
    assert forge("undo", first["id"], "--json").error == "branch_moved"
    assert forge("undo", "no-such-id", "--json").error == "operation_missing"
    assert git(repo, "for-each-ref") == before


def test_operations_are_listed_newest_first(forge: Forge, repo: Path) -> None:
    assert forge("undo").code == 0
    rows = [re.split(" {2,}", masked(line))[1:] for line in forge("undo", "--list").out.splitlines()]
    assert rows == snapshot(
        [
            ["just now", "person", "undo: new branch topic at <id>", "topic <id>→∅"],
            ["just now", "person", "new branch topic at <id>", "topic ∅→<id>"],
            ["just now", "person", "save 3", "main <id>→<id>"],
            ["just now", "person", "save 2", "main <id>→<id>"],
            ["just now", "person", "save 1", "main <id>→<id>"],
        ]
    )
    assert len(forge("undo", "--list", "--steps", "2").out.splitlines()) == 2


def test_moves_by_others_are_noticed_and_not_undone(forge: Forge, repo: Path, git: Git) -> None:
    git(repo, "branch", "--force", "topic", "main")
    listed = forge("undo", "--list", "--json").document
    assert listed[0]["actor"]["kind"] == "external"
    assert forge("undo", "--json").error == "branch_moved"
    assert git(repo, "rev-parse", "topic") == git(repo, "rev-parse", "main")


def test_an_edit_in_a_checkout_is_kept_by_an_undo(forge: Forge, repo: Path) -> None:
    assert forge("undo").code == 0
    (repo / "a.txt").write_text("mine\n")
    done = forge("undo")
    assert done.code == 0
    assert done.out.startswith("Took back: save 3\n")
    assert f"a.txt: your uncommitted edit in {repo} is kept; it is based on the older text" in done.err
    assert (repo / "a.txt").read_text() == "mine\n"
