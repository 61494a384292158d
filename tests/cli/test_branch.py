"""`forge branch`: what people see, what programs get, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.cli.conftest import Forge
from tests.conftest import Git, MakeRepo


@pytest.fixture
def repo(make_repo: MakeRepo, git: Git, dated: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three commits on main."""
    repo = make_repo({"a.txt": "one\n"})
    for subject in ("second", "third"):
        git(repo, "commit", "--quiet", "--allow-empty", "--message", subject)
    monkeypatch.chdir(repo)
    return repo


def test_branches_are_listed_with_their_last_commit(forge: Forge, repo: Path, git: Git) -> None:
    git(repo, "commit", "--quiet", "--amend", "--allow-empty", "--message", f"third {'very ' * 20}long")
    git(repo, "branch", "topic", "HEAD~1")
    lines = [line.split(maxsplit=3) for line in forge("branch", "list").out.splitlines()]
    assert [line[:3] for line in lines] == [
        ["*", "main", git(repo, "rev-parse", "--short=7", "HEAD")],
        ["topic", git(repo, "rev-parse", "--short=7", "HEAD~1"), lines[1][2]],
    ]
    assert lines[0][3].endswith(f"y ago  third {'very ' * 10}ver…  default")


def test_programs_are_told_which_branch_is_the_default_and_which_is_checked_out(
    forge: Forge, repo: Path, git: Git
) -> None:
    git(repo, "branch", "topic", "HEAD~1")
    assert forge("branch", "list", "--json").document == snapshot(
        [
            {
                "name": "main",
                "commit": "6cc2a84999ff0421adf29ac5556cdc3b535ebc60",
                "subject": "third",
                "author": "Ada Example",
                "time": 1577836800.0,
                "is_default": True,
                "protected": True,
                "checked_out": True,
                "ai": False,
                "busy": None,
                "damage": None,
                "details": None,
                "tip": "6cc2a84999ff0421adf29ac5556cdc3b535ebc60",
                "default": True,
            },
            {
                "name": "topic",
                "commit": "48201778bb8942c177c45809b41cee1ec60a8a44",
                "subject": "second",
                "author": "Ada Example",
                "time": 1577836800.0,
                "is_default": False,
                "protected": False,
                "checked_out": False,
                "ai": False,
                "busy": None,
                "damage": None,
                "details": None,
                "tip": "48201778bb8942c177c45809b41cee1ec60a8a44",
                "default": False,
            },
        ]
    )


def test_a_branch_is_made_at_any_commit(forge: Forge, repo: Path, git: Git) -> None:
    first = git(repo, "rev-parse", "HEAD~2")
    done = forge("branch", "new", "ai/cache", "--from", "HEAD~2")
    assert (done.code, done.out, done.err) == (0, f"ai/cache → {first[:7]}\n", "")
    assert git(repo, "rev-parse", "ai/cache") == first
    assert forge("branch", "new", "other", "--json").document == {
        "branch": "other",
        "tip": git(repo, "rev-parse", "HEAD"),
    }


def test_a_branch_is_forked_from_another(forge: Forge, repo: Path, git: Git) -> None:
    git(repo, "branch", "topic", "HEAD~1")
    assert forge("branch", "fork", "topic", "copy").code == 0
    assert git(repo, "rev-parse", "copy") == git(repo, "rev-parse", "topic")
    assert forge("branch", "fork", "topic", "copy", "--json").error == "branch_exists"
    # A fork starts at a branch; a commit would have no conversation to take along.
    assert forge("branch", "fork", "HEAD~1", "copy2", "--json").code == 1


def test_a_branch_is_renamed(forge: Forge, repo: Path, git: Git) -> None:
    git(repo, "branch", "topic")
    done = forge("branch", "rename", "topic", "better/name")
    assert (done.code, done.out) == (0, "Renamed topic → better/name\n")
    assert git(repo, "branch", "--format=%(refname:short)") == "better/name\nmain"
    moves = forge("branch", "rename", "better/name", "topic", "--json").document["operation"]["moves"]
    assert {move["ref"] for move in moves} >= {"refs/heads/topic", "refs/heads/better/name"}


@pytest.mark.req("G-08")
def test_a_rewound_branch_keeps_its_old_tip_and_its_checkout_follows(forge: Forge, repo: Path, git: Git) -> None:
    old, first = git(repo, "rev-parse", "HEAD"), git(repo, "rev-parse", "HEAD~2")
    done = forge("branch", "rewind", "main", "HEAD~2")
    assert (done.code, done.out) == (0, f"Rewound main → {first[:7]}\nYour checkout {repo} follows.\n")
    assert git(repo, "status", "--porcelain") == ""
    kept = forge("branch", "list", "--kept")
    assert kept.out.split() == [f"main@{old[:12]}", old[:7], "third"]
    assert forge("branch", "list", "--kept", "--json").document == [
        {"name": f"main@{old[:12]}", "commit": old, "subject": "third", "tip": old}
    ]
    assert forge("branch", "new", "again", "--from", old).code == 0


def test_a_deleted_branch_comes_back_by_undo(forge: Forge, repo: Path, git: Git) -> None:
    git(repo, "branch", "topic", "HEAD~1")
    assert forge("branch", "delete", "topic").out == "Deleted topic; `forge undo` brings it back.\n"
    assert git(repo, "branch", "--list", "topic") == ""
    assert forge("undo").out == "Took back: delete topic\n"
    assert git(repo, "rev-parse", "topic") == git(repo, "rev-parse", "HEAD~1")


@pytest.mark.parametrize("words", [["delete", "main"], ["rename", "main", "trunk"]], ids=" ".join)
def test_a_branch_that_is_checked_out_stays(forge: Forge, repo: Path, git: Git, words: list[str]) -> None:
    done = forge("branch", *words, "--json")
    assert (done.code, done.error) == (1, "branch_checked_out")
    assert git(repo, "symbolic-ref", "HEAD") == "refs/heads/main"
    assert git(repo, "rev-parse", "main")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["new", "main"], "branch_exists"),
        (["new", "main/below"], "branch_exists"),
        (["new", "a..b"], "invalid_name"),
        (["new", "-x"], "bad_usage"),
        (["new", "x", "--from", "nowhere"], "revision_missing"),
        (["new", "x", "--from", ""], "invalid_revision"),
        (["fork", "nowhere", "x"], "branch_missing"),
        (["rename", "nowhere", "x"], "branch_missing"),
        (["rename", "topic", "main"], "branch_exists"),
        (["rewind", "nowhere", "main"], "branch_missing"),
        (["rewind", "topic", "nowhere"], "revision_missing"),
        (["delete", "nowhere"], "branch_missing"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_what_cannot_be_is_told_by_its_code_and_nothing_moves(
    forge: Forge, repo: Path, git: Git, words: list[str], error: str
) -> None:
    git(repo, "branch", "topic")
    before = git(repo, "for-each-ref")
    done = forge("branch", *words, "--json")
    assert done.error == error
    assert done.code == (2 if error == "bad_usage" else 1)
    assert git(repo, "for-each-ref") == before


@pytest.mark.req("C-14")
@pytest.mark.parametrize(
    "words",
    [
        ["branch", "rewind", "main", "HEAD~1"],
        ["branch", "rename", "topic", "master"],
        ["branch", "new", "master"],
        ["branch", "fork", "topic", "Master"],
        ["file", "save", "a.txt"],
        ["file", "delete", "a.txt"],
        ["file", "rename", "a.txt", "b.txt"],
        ["merge", "topic", "--into", "main", "--no-ff"],
        ["cherry-pick", "topic", "--onto", "main"],
        ["rebase", "main", "--onto", "topic"],
        ["exec", "--save", "--", "touch", "new.txt"],
    ],
    ids=" ".join,
)
def test_an_agent_is_refused_on_the_default_branch_with_code_5(
    forge: Forge, repo: Path, git: Git, words: list[str]
) -> None:
    git(repo, "checkout", "--quiet", "-b", "topic", "HEAD~1")
    (repo / "t.txt").write_text("topic\n")
    git(repo, "add", "t.txt")
    git(repo, "commit", "--quiet", "--message", "topic work")
    git(repo, "checkout", "--quiet", "main")
    before = git(repo, "for-each-ref")
    agent = words.index("--") if "--" in words else len(words)
    done = forge(*words[:agent], "--as", "bot", "--json", *words[agent:], stdin="new\n")
    assert (done.code, done.error) == (5, "protected_branch")
    assert "agent bot" in done.err
    assert git(repo, "for-each-ref") == before


def test_an_agent_without_a_name_is_not_taken_for_a_person(forge: Forge, repo: Path, git: Git) -> None:
    before = git(repo, "for-each-ref")
    for name in ("", "  "):
        assert forge("branch", "new", "x", "--as", name, "--json").error == "bad_usage"
        assert forge("file", "save", "x", "--as", name, stdin="x").code == 2
    assert git(repo, "for-each-ref") == before


def test_an_agent_works_on_its_own_branches_and_is_named_in_the_log(forge: Forge, repo: Path) -> None:
    assert forge("branch", "new", "ai/x", "--as", "bot").code == 0
    assert forge("file", "save", "-b", "ai/x", "n.txt", "--as", "bot", stdin="n\n").code == 0
    assert [line.split("  ")[2] for line in forge("undo", "--list").out.splitlines()] == ["agent bot"] * 2


def test_a_damaged_branch_does_not_hide_the_others(forge: Forge, repo: Path) -> None:
    (repo / ".git" / "refs" / "heads" / "broken").write_text("1" * 40 + "\n")
    done = forge("branch", "list")
    assert done.code == 0
    assert "damaged: Its commit 111111111111 is not in the repository." in done.out.splitlines()[0]
    assert done.out.splitlines()[1].split()[-3:] == ["ago", "third", "default"]
    broken = forge("branch", "list", "--json").document[0]
    assert (broken["name"], broken["subject"], broken["time"]) == ("broken", "", 0.0)
