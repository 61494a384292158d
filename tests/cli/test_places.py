"""Where `forge` is run: empty and bare repositories, detached heads, linked worktrees, unborn branches."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.cli.conftest import Forge, masked
from tests.conftest import Git, MakeRepo

NO_COMMIT = "There is no commit yet: the first `forge file save` makes one.\n"


@pytest.fixture(params=["empty", "bare"])
def empty(request: pytest.FixtureRequest, tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> Path:
    kind: str = request.param
    repo = tmp_path / kind
    git(tmp_path, "init", "--quiet", *(["--bare"] if kind == "bare" else []), str(repo))
    monkeypatch.chdir(repo)
    return repo


@pytest.mark.parametrize(
    ("words", "code", "out", "err", "document"),
    [
        (["branch", "list"], 0, "", "There is no branch yet: the first `forge file save` makes one.\n", []),
        (["branch", "list", "--kept"], 0, "", "No tip had to be kept so far.\n", []),
        (["file", "list"], 0, "", "", []),
        (["file", "search", "x"], 1, "", "", None),
        (["log"], 0, "", NO_COMMIT, []),
        (
            ["graph"],
            0,
            "",
            "There is no commit yet: the first `forge file save` makes one.\n",
            {"rows": [], "next": None},
        ),
        (["undo", "--list"], 0, "", "Forge has moved nothing here yet.\n", []),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_an_empty_repository_has_nothing_to_show_which_is_no_error(
    forge: Forge, empty: Path, words: list[str], code: int, out: str, err: str, document: object
) -> None:
    done = forge(*words)
    assert (done.code, done.out, done.err) == (code, out, err)
    found = forge(*words, "--json")
    assert found.code == code
    assert document is None or found.document == document


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["branch", "new", "x"], "revision_missing"),
        (["branch", "fork", "main", "x"], "branch_missing"),
        (["branch", "rename", "main", "x"], "branch_missing"),
        (["branch", "rewind", "main", "HEAD"], "revision_missing"),
        (["branch", "delete", "main"], "branch_missing"),
        (["file", "show", "a"], "file_missing"),
        (["file", "delete", "a"], "file_missing"),
        (["file", "rename", "a", "b"], "file_missing"),
        (["file", "list", "-b", "nosuch"], "branch_missing"),
        (["session", "cancel", "-b", "nosuch"], "branch_missing"),
        (["session", "show", "-b", "nosuch"], "branch_missing"),
        (["tools", "list", "-b", "nosuch"], "branch_missing"),
        (["log", "main"], "revision_missing"),
        (["diff", "HEAD"], "revision_missing"),
        (["blame", "a"], "revision_missing"),
        (["merge", "HEAD"], "revision_missing"),
        (["rebase", "main", "--onto", "HEAD"], "revision_missing"),
        (["cherry-pick", "HEAD"], "revision_missing"),
        (["undo"], "nothing_to_undo"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_what_an_empty_repository_lacks_is_told(forge: Forge, empty: Path, words: list[str], error: str) -> None:
    done = forge(*words, "--json")
    assert (done.code, done.error) == (1, error)


def test_the_first_save_makes_the_branch(forge: Forge, empty: Path, git: Git) -> None:
    done = forge("file", "save", "a.txt", stdin="a\n")
    assert done.code == 0
    assert git(empty, "show", "HEAD:a.txt") == "a"
    assert [line.split()[-4:] for line in forge("branch", "list").out.splitlines()] == [
        ["now", "edit:", "a.txt", "default"]
    ]


def test_the_first_save_is_taken_back_unless_a_checkout_would_lose_its_branch(
    forge: Forge, empty: Path, git: Git
) -> None:
    forge("file", "save", "a.txt", stdin="a\n")
    done = forge("undo", "--json")
    if empty.name == "bare":
        assert done.code == 0
        assert forge("branch", "list", "--json").document == []
    else:
        assert (done.code, done.error) == (1, "branch_checked_out")
        assert git(empty, "status", "--porcelain") == ""


def test_a_command_runs_on_no_files_and_its_first_ones_can_be_saved(forge: Forge, empty: Path, git: Git) -> None:
    assert forge("exec", "--save", "--", "touch", "first").code == 0
    assert git(empty, "ls-tree", "--name-only", "HEAD") == "first"


@pytest.fixture
def detached(make_repo: MakeRepo, git: Git, monkeypatch: pytest.MonkeyPatch) -> Path:
    repo = make_repo({"a.txt": "a\n"})
    git(repo, "branch", "topic")
    git(repo, "checkout", "--quiet", "--detach")
    monkeypatch.chdir(repo)
    return repo


def test_on_a_detached_head_reading_shows_its_commit(forge: Forge, detached: Path) -> None:
    assert forge("file", "list").out == "a.txt\n"
    assert forge("file", "show", "a.txt").out == "a\n"
    assert forge("file", "search", "a").code == 0
    assert forge("log").code == 0
    assert forge("blame", "a.txt").code == 0


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["file", "save", "x"], "--branch"),
        (["exec", "--", "true"], "--branch"),
        (["merge", "topic"], "--into"),
        (["cherry-pick", "topic"], "--onto"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else value,
)
def test_on_a_detached_head_writing_needs_a_branch_and_the_hint_names_the_option(
    forge: Forge, detached: Path, words: list[str], option: str
) -> None:
    done = forge(*words)
    hint = f"Make one here with `git switch -c NAME`, or name one with {option}."
    assert (done.code, done.err) == (1, f"forge: HEAD is not on a branch.\n  → {hint}\n")
    assert forge(*words[:1], "--json", *words[1:]).error == "head_detached"


def test_a_branch_made_on_a_detached_head_is_worked_on(forge: Forge, detached: Path, git: Git) -> None:
    git(detached, "switch", "--quiet", "-c", "here")
    assert forge("file", "save", "x", "--json", stdin="x\n").document["branch"] == "here"


def test_a_linked_worktree_works_on_its_own_branch(
    forge: Forge, make_repo: MakeRepo, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = make_repo({"a.txt": "a\n"})
    linked = tmp_path / "linked"
    git(repo, "worktree", "add", "--quiet", "-b", "side", str(linked))
    monkeypatch.chdir(linked)
    assert masked(forge("file", "save", "a.txt", stdin="b\n").out, linked) == snapshot("""\
Saved → <id> on side
Your checkout <linked> follows.
""")
    assert (linked / "a.txt").read_text() == "b\n"
    assert (repo / "a.txt").read_text() == "a\n"
    assert [line.split()[:2] for line in forge("branch", "list").out.splitlines()] == [["*", "main"], ["*", "side"]]
    assert forge("undo", "-C", str(repo)).code == 0
    assert (linked / "a.txt").read_text() == "a\n"


def test_a_subfolder_belongs_to_its_repository(
    forge: Forge, make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = make_repo({"d/e/a.txt": "a\n"})
    monkeypatch.chdir(repo / "d" / "e")
    assert forge("file", "list").out == "d/e/a.txt\n"


def test_variables_of_a_surrounding_git_do_not_redirect_it(
    forge: Forge, make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a hook, git sets these; `-C` must still win."""
    here, other = make_repo({"a": "a\n"}), make_repo({"b": "b\n"}, name="other")
    monkeypatch.setenv("GIT_DIR", str(here / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(here))
    monkeypatch.setenv("GIT_INDEX_FILE", str(here / ".git" / "index"))
    assert forge("-C", str(other), "file", "list").out == "b\n"
    assert forge("-C", str(other), "file", "save", "b", stdin="c\n").code == 0
    assert (other / "b").read_text() == "c\n"


def test_a_command_runs_only_on_a_branch_that_is_there(forge: Forge, empty: Path) -> None:
    done = forge("--json", "exec", "-b", "nosuch", "--", "true")
    assert (done.code, done.error) == (1, "branch_missing")
