"""`forge file`: listing, reading and saving without a checkout."""

from __future__ import annotations

import base64
import os
import subprocess
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.cli.conftest import PROGRAM, Forge, Installed, masked
from tests.conftest import Git, MakeRepo


@pytest.fixture
def repo(make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch) -> Path:
    files: dict[str, str | bytes] = {
        "a.txt": "one\ntwo\n",
        "src/app.py": "print()\n",
        "src/b.bin": b"\0\1\xff",
        "run": "#!/bin/sh\n",
    }
    repo = make_repo(files, executable=["run"])
    monkeypatch.chdir(repo)
    return repo


def test_files_are_listed_by_prefix_branch_and_commit(forge: Forge, repo: Path, git: Git) -> None:
    assert forge("file", "list").out == "a.txt\nrun\nsrc/app.py\nsrc/b.bin\n"
    assert forge("file", "list", "src/a").out == "src/app.py\n"
    nothing = forge("file", "list", "nothing", "--json")
    assert (nothing.code, nothing.error) == (1, "file_missing")
    git(repo, "branch", "topic")
    assert forge("file", "delete", "run", "-b", "topic").code == 0
    assert forge("file", "list", "--branch", "topic", "--json").document == ["a.txt", "src/app.py", "src/b.bin"]
    assert forge("file", "list", "--at", "topic~1", "r").out == "run\n"


def test_who_saves_on_a_branch_that_is_not_there_is_told_how_to_make_it(forge: Forge, repo: Path) -> None:
    done = forge("file", "save", "a.txt", "-b", "ai/new", "--json", stdin="x")
    assert (done.code, done.error) == (1, "branch_missing")
    assert "`forge branch new ai/new`" in done.document["error"]["hint"]


def test_a_branch_to_list_must_be_one(forge: Forge, repo: Path, git: Git) -> None:
    git(repo, "tag", "v1")
    assert forge("file", "list", "--at", "v1").code == 0
    assert forge("file", "list", "--branch", "v1", "--json").error == "branch_missing"
    assert forge("file", "list", "--branch", "main", "--at", "v1", "--json").error == "bad_usage"


def test_a_file_is_shown_byte_for_byte(installed: Installed, repo: Path) -> None:
    done = installed("file", "show", "src/b.bin")
    assert (done.code, done.out.encode("utf-8", "surrogateescape"), done.err) == (0, b"\0\1\xff", "")


def test_programs_get_text_as_text_and_the_rest_as_base64(forge: Forge, repo: Path) -> None:
    assert forge("file", "show", "a.txt", "--json").document == {
        "path": "a.txt",
        "mode": "100644",
        "text": "one\ntwo\n",
    }
    found = forge("file", "show", "src/b.bin", "--json").document
    assert base64.b64decode(found.pop("base64")) == b"\0\1\xff"
    assert found == {"path": "src/b.bin", "mode": "100644"}


@pytest.mark.req("G-05")
def test_saving_is_one_commit_on_the_branch_named(forge: Forge, repo: Path, git: Git) -> None:
    git(repo, "branch", "topic")
    done = forge("file", "save", "--branch", "topic", "docs/new.md", "--message", "write it", stdin="# Hi\r\nno end")
    tip = git(repo, "rev-parse", "topic")
    assert (done.code, done.out, done.err) == (0, f"Saved → {tip[:7]} on topic\n", "")
    assert (
        git(repo, "log", "-1", "--format=%s|%an|%P", "topic")
        == f"write it|Ada Example|{git(repo, 'rev-parse', 'main')}"
    )
    assert forge("file", "show", "-b", "topic", "docs/new.md").out == "# Hi\r\nno end"
    assert git(repo, "status", "--porcelain") == ""


@pytest.mark.req("G-05")
def test_without_a_message_the_commit_is_called_an_edit_of_the_file(forge: Forge, repo: Path, git: Git) -> None:
    assert forge("file", "save", "src/app.py", stdin="new\n").code == 0
    assert git(repo, "log", "-1", "--format=%B") == "edit: app.py\n"


def test_programs_get_the_commit_and_what_became_of_checkouts(forge: Forge, repo: Path, git: Git) -> None:
    found = forge("file", "save", "a.txt", "--json", stdin="new\n").document
    assert found["branch"] == "main"
    assert found["commit"] == git(repo, "rev-parse", "HEAD")
    assert found["files"] == {"a.txt": "modified"}
    (move,) = found["operation"]["moves"]
    assert move["ref"] == "refs/heads/main"
    (checkout,) = found["operation"]["checkouts"]
    assert (checkout["worktree"], checkout["state"]) == (str(repo), "updated")


def test_a_checked_out_branch_follows_a_save(forge: Forge, repo: Path, git: Git) -> None:
    done = forge("file", "save", "a.txt", stdin="new\n")
    assert masked(done.out, repo) == snapshot("""\
Saved → <id> on main
Your checkout <repo> follows.
""")
    assert (repo / "a.txt").read_text() == "new\n"
    assert git(repo, "status", "--porcelain") == ""


def test_an_edit_in_a_checkout_is_kept_and_that_is_told(forge: Forge, repo: Path, git: Git) -> None:
    (repo / "a.txt").write_text("mine\n")
    (repo / "untracked").write_text("mine too\n")
    done = forge("file", "save", "a.txt", stdin="theirs\n")
    assert done.code == 0
    assert masked(done.out + done.err, repo) == snapshot("""\
Saved → <id> on main
Your checkout <repo> follows where you have no changes.
a.txt: your uncommitted edit in <repo> is kept; it is based on the older text
""")
    assert (repo / "a.txt").read_text() == "mine\n"

    found = forge("file", "save", "a.txt", "--json", stdin="theirs again\n")
    (checkout,) = found.document["operation"]["checkouts"]
    assert (checkout["state"], checkout["paths"]) == ("partly updated", ["a.txt"])
    assert [own["kind"] for own in checkout["own"]] == ["edited"]
    assert "your uncommitted edit" in found.err
    assert (repo / "a.txt").read_text() == "mine\n"
    assert (repo / "untracked").read_text() == "mine too\n"


def test_saving_what_is_there_already_makes_no_commit(forge: Forge, repo: Path, git: Git) -> None:
    before = git(repo, "rev-parse", "HEAD")
    done = forge("file", "save", "a.txt", stdin="one\ntwo\n")
    assert (done.code, done.out) == (0, "Nothing changed: the branch has this content already.\n")
    found = forge("file", "save", "a.txt", "--json", stdin="one\ntwo\n").document
    assert found == {"branch": "main", "commit": before, "files": {}, "operation": None}
    assert git(repo, "rev-parse", "HEAD") == before


def test_the_mode_is_kept_or_set(forge: Forge, repo: Path, git: Git) -> None:
    for path, options, mode in [
        ("run", [], "100755"),
        ("run", ["--plain"], "100644"),
        ("a.txt", ["--executable"], "100755"),
    ]:
        assert forge("file", "save", path, *options, stdin=f"{path}{options}").code == 0
        assert git(repo, "ls-tree", "HEAD", path).split()[0] == mode


def test_a_file_is_renamed_and_deleted_in_one_commit_each(forge: Forge, repo: Path, git: Git) -> None:
    assert forge("file", "rename", "run", "bin/go", "-m", "move it").code == 0
    assert git(repo, "show", "--format=%s", "--summary", "HEAD") == snapshot("""\
move it

 rename run => bin/go (100%)\
""")
    found = forge("file", "delete", "a.txt", "--json").document
    assert found["files"] == {"a.txt": "deleted"}
    assert git(repo, "log", "-1", "--format=%s") == "delete: a.txt"
    assert not (repo / "a.txt").exists()


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["show", "nothing"], "file_missing"),
        (["show", "src"], "file_missing"),
        (["show", "../a.txt"], "invalid_path"),
        (["show", "a.txt", "--at", "nowhere"], "revision_missing"),
        (["save", "../out"], "invalid_path"),
        (["save", "/etc/passwd"], "invalid_path"),
        (["save", ".git/config"], "invalid_path"),
        (["save", "src/.GIT/hooks/x"], "invalid_path"),
        (["save", "a.txt/below"], "path_clash"),
        (["save", "src"], "path_clash"),
        (["save", "A.TXT"], "path_clash"),
        (["save", "x", "-b", "nowhere"], "branch_missing"),
        (["save", "x", "-b", "a b"], "invalid_name"),
        (["delete", "nothing"], "file_missing"),
        (["rename", "nothing", "x"], "file_missing"),
        (["rename", "a.txt", "run"], "path_clash"),
        (["rename", "a.txt", "../x"], "invalid_path"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_what_cannot_be_is_told_by_its_code_and_nothing_is_written(
    forge: Forge, repo: Path, git: Git, words: list[str], error: str
) -> None:
    before = git(repo, "for-each-ref")
    done = forge("file", *words, "--json", stdin="x")
    assert (done.code, done.error) == (1, error)
    assert git(repo, "for-each-ref") == before
    assert git(repo, "status", "--porcelain") == ""


def test_content_typed_at_a_terminal_is_asked_for(repo: Path, git: Git) -> None:
    master, slave = os.openpty()
    try:
        os.write(master, b"typed\n\x04")
        done = subprocess.run(
            [PROGRAM, "file", "save", "t.txt"], stdin=slave, capture_output=True, text=True, check=False
        )
    finally:
        os.close(master)
        os.close(slave)
    assert done.returncode == 0, done.stderr
    assert "Ctrl-D" in done.stderr
    assert git(repo, "show", "HEAD:t.txt") == "typed"


def test_a_message_may_say_anything_that_a_commit_can_hold(forge: Forge, repo: Path, git: Git) -> None:
    text = "subject \x1b[31m\n\nbody — ünï\n\nKey: value"
    assert forge("file", "save", "x", "-m", text, stdin="x").code == 0
    assert git(repo, "log", "-1", "--format=%B") == f"{text}\n"
    assert forge("file", "save", "x", "-m", "  \n ", "--json", stdin="y").error == "invalid_input"
