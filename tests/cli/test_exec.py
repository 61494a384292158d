"""`forge exec`: a command on a branch, in a sandbox; its exit code, its limits, what becomes of its changes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.cli.conftest import PROGRAM, Forge, Installed, masked
from tests.conftest import Git, MakeRepo


@pytest.fixture
def repo(make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch) -> Path:
    repo = make_repo({"a.txt": "one\n", "d/b.txt": "two\n", ".gitignore": "*.log\n"})
    monkeypatch.chdir(repo)
    return repo


def test_a_command_runs_on_the_files_of_the_branch(forge: Forge, repo: Path) -> None:
    assert forge("file", "save", "-b", "main", "a.txt", stdin="newer\n").code == 0
    done = forge("exec", "--", "cat", "a.txt", "d/b.txt")
    assert (done.code, done.out, done.err) == (0, "newer\ntwo\n", "")


def test_without_save_nothing_is_kept(forge: Forge, repo: Path, git: Git) -> None:
    before = git(repo, "for-each-ref")
    done = forge("exec", "--", "sh", "-c", "echo new > n.txt; rm a.txt; echo b >> d/b.txt; echo x > x.log")
    assert (done.code, done.out) == (0, "")
    assert done.err == snapshot("""\
deleted a.txt
modified d/b.txt
added n.txt
Not saved; --save commits such changes.
""")
    assert git(repo, "for-each-ref") == before
    assert git(repo, "status", "--porcelain") == ""
    assert forge("exec", "--", "cat", "a.txt").out == "one\n"


def test_with_save_the_changes_become_one_commit(forge: Forge, repo: Path, git: Git) -> None:
    git(repo, "branch", "topic")
    done = forge("exec", "--branch", "topic", "--save", "--", "sh", "-c", "echo new > 'n n.txt'; rm a.txt")
    assert (done.code, done.out) == (0, "")
    assert masked(done.err) == snapshot("""\
deleted a.txt
added n n.txt
Saved → <id> on topic
""")
    assert git(repo, "log", "--format=%B", "main..topic") == snapshot("""\
run: sh -c 'echo new > '"'"'n n.txt'"'"'; rm a.txt'

Forge-Command: sh -c 'echo new > '"'"'n n.txt'"'"'; rm a.txt'
""")
    assert git(repo, "diff", "--name-status", "main", "topic") == "D\ta.txt\nA\tn n.txt"
    assert git(repo, "status", "--porcelain") == ""


def test_the_message_of_the_commit_may_be_given(forge: Forge, repo: Path, git: Git) -> None:
    assert forge("exec", "--save", "-m", "format", "--", "sh", "-c", "echo x > a.txt").code == 0
    assert git(repo, "log", "-1", "--format=%s") == "format"
    assert (repo / "a.txt").read_text() == "x\n"


def test_programs_get_everything_in_one_document(forge: Forge, repo: Path, git: Git) -> None:
    done = forge("exec", "--save", "--json", "--", "sh", "-c", "echo out; echo err >&2; echo x > a.txt")
    assert done.code == 0
    found = done.document
    assert found.pop("duration") > 0
    assert found.pop("commit") == git(repo, "rev-parse", "HEAD")
    assert found.pop("base") == git(repo, "rev-parse", "HEAD~1")
    assert found.pop("operation")["checkouts"][0]["state"] == "updated"
    assert found == snapshot(
        {
            "branch": "main",
            "exit_code": 0,
            "stdout": "out\n",
            "stderr": "err\n",
            "timed_out": False,
            "limited": [],
            "sandboxed": True,
            "changes": {"a.txt": "modified"},
            "changed": {"total": 1, "modified": 1},
            "notes": [],
        }
    )


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 1", 1), ("exit 7", 7), ("exit 255", 255), ("kill -TERM $$", 143)]
)
def test_the_command_s_own_exit_code_is_passed_on(forge: Forge, repo: Path, script: str, code: int) -> None:
    assert forge("exec", "--", "sh", "-c", script).code == code
    found = forge("exec", "--json", "--", "sh", "-c", script)
    assert (found.code, found.document["exit_code"]) == (code, code)


def test_a_command_that_is_not_there_is_127_and_one_that_cannot_run_126(forge: Forge, repo: Path) -> None:
    done = forge("exec", "--", "no-such-program")
    assert (done.code, done.out) == (127, "")
    assert "no-such-program" in done.err
    assert forge("exec", "--", "./a.txt").code == 126


def test_changes_of_a_command_that_failed_are_not_saved(forge: Forge, repo: Path, git: Git) -> None:
    before = git(repo, "for-each-ref")
    done = forge("exec", "--save", "--", "sh", "-c", "echo x > a.txt; exit 9")
    assert (done.code, done.err) == (9, "modified a.txt\nNot saved: the command failed.\n")
    assert git(repo, "for-each-ref") == before


def test_a_limit_ends_it_with_code_3_and_saves_nothing(forge: Forge, repo: Path, git: Git) -> None:
    before = git(repo, "for-each-ref")
    done = forge("exec", "--timeout", "0.5", "--save", "--", "sh", "-c", "echo x > a.txt; echo out; sleep 60")
    assert (done.code, done.out) == (3, "out\n")
    assert done.err.startswith("Stopped by a limit: time.\n")
    found = forge("exec", "--timeout", "0.5", "--json", "--", "sleep", "60")
    assert found.code == 3
    assert (found.document["timed_out"], found.document["limited"]) == (True, ["time"])
    assert git(repo, "for-each-ref") == before


def test_of_long_output_the_end_is_kept_which_is_no_failure(forge: Forge, repo: Path) -> None:
    done = forge("exec", "--", "sh", "-c", "yes 0123456789abcde | head -c 2000000; echo the end")
    assert done.code == 0
    assert done.out.endswith("the end\n")
    assert len(done.out) < 1_200_000
    assert done.err == "Only the end of the output was kept.\n"


def test_input_reaches_the_command_only_when_asked_for(forge: Forge, repo: Path) -> None:
    assert forge("exec", "--", "cat", stdin="secret").out == ""
    assert forge("exec", "--stdin", "--", "cat", stdin=b"\0\xff data").out == "\0\udcff data"


def test_a_standard_input_that_stays_open_does_not_hold_it_up(repo: Path) -> None:
    read, write = os.pipe()
    try:
        done = subprocess.run([PROGRAM, "exec", "--", "cat"], stdin=read, capture_output=True, timeout=60, check=False)
    finally:
        os.close(read)
        os.close(write)
    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.req("X-06")
def test_a_command_sees_neither_the_network_nor_the_home_nor_the_caller_s_environment(
    forge: Forge, repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "secret")
    (home / "key").write_text("secret")
    done = forge(
        "exec",
        "--env",
        "MINE=1 2",
        "--",
        "sh",
        "-c",
        f"env; cat {home}/key; ls /proc/net/dev /sys/class/net; cat /proc/net/dev",
    )
    assert "MINE=1 2\n" in done.out
    assert "secret" not in done.out
    assert "eth" not in done.out
    assert not (repo / "key").exists()


@pytest.mark.req("X-06")
def test_a_command_can_write_nowhere_but_in_its_directory(forge: Forge, repo: Path, tmp_path: Path) -> None:
    target = tmp_path / "outside"
    done = forge("exec", "--", "sh", "-c", f"echo x > {target}; echo x > {repo}/a.txt; echo x > /usr/x")
    assert done.code != 0
    assert not target.exists()
    assert (repo / "a.txt").read_text() == "one\n"


def test_a_path_can_be_shown_to_the_command_for_reading(forge: Forge, repo: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "f").write_text("shown\n")
    place = str(tmp_path / "data")
    assert forge("exec", "--readonly", place, "--", "cat", f"{place}/f").out == "shown\n"
    assert forge("exec", "--readonly", place, "--", "rm", f"{place}/f").code != 0
    assert forge("exec", "--readonly", f"{place}/gone", "--json", "--", "true").error == "directory_missing"


@pytest.fixture
def without_bubblewrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH on which everything is but bwrap."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("git", "sh", "cat", "touch"):
        (programs / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(programs))


@pytest.mark.req("X-06")
@pytest.mark.usefixtures("without_bubblewrap")
def test_without_bubblewrap_a_command_is_refused_with_code_5_and_a_hint(forge: Forge, repo: Path, git: Git) -> None:
    done = forge("exec", "--save", "--json", "--", "touch", "ran")
    assert (done.code, done.error) == (5, "sandbox_unavailable")
    assert "bubblewrap" in done.document["error"]["hint"]
    assert git(repo, "status", "--porcelain") == ""


@pytest.mark.usefixtures("without_bubblewrap")
def test_plain_execution_must_be_allowed_and_is_told_each_time(forge: Forge, repo: Path) -> None:
    done = forge("exec", "--allow-plain", "--", "cat", "a.txt")
    assert (done.code, done.out) == (0, "one\n")
    assert "note: not confined" in done.err
    found = forge("exec", "--allow-plain", "--json", "--", "cat", "a.txt").document
    assert found["sandboxed"] is False
    assert found["notes"]


def test_an_agent_is_refused_before_the_command_runs(forge: Forge, repo: Path, tmp_path: Path) -> None:
    done = forge("exec", "--save", "--as", "bot", "--", "sh", "-c", "echo it ran")
    assert (done.code, done.out) == (5, "")
    # Looking at the default branch is not changing it.
    assert forge("exec", "--as", "bot", "--", "echo", "it ran").out == "it ran\n"


def test_names_that_no_branch_can_hold_are_left_out_with_a_note(installed: Installed, repo: Path) -> None:
    done = installed("exec", "--save", "--", b"sh", b"-c", b"echo a > 'q\xff'; echo b > 'e\x1b[31m'; echo c > ok")
    assert done.code == 0
    assert masked(done.err, repo) == snapshot("""\
note: e\\x1b[31m: not collected: 'e\\x1b[31m' is not a usable path: it contains a control character.
note: q\\xff: not collected: 'q\\udcff' is not a usable path: it is not valid Unicode.
added ok
Saved → <id> on main
""")
    assert done.out == f"Your checkout {repo} follows.\n"


def test_a_message_for_a_strange_command_is_one_printable_line(installed: Installed, repo: Path, git: Git) -> None:
    done = installed("exec", "--save", "--", "sh", "-c", "echo \x1b[31m\n> a.txt # ünï \n")
    assert done.code == 0
    assert git(repo, "log", "-1", "--format=%s") == "run: sh -c 'echo  [31m > a.txt # ünï  '"


def test_the_branch_must_exist(forge: Forge, repo: Path) -> None:
    assert forge("exec", "-b", "nowhere", "--json", "--", "true").error == "branch_missing"


@pytest.mark.req("G-04")
def test_many_changed_files_are_counted_and_not_all_named(forge: Forge, repo: Path) -> None:
    command = ("sh", "-c", "for n in $(seq 1200); do echo $n > n$n; done; rm a.txt")
    done = forge("exec", "--json", "--", *command).document
    assert done["changed"] == {"total": 1201, "added": 1200, "deleted": 1}
    assert len(done["changes"]) == 1000
    told = forge("exec", "--", *command).err
    assert "… and 201 more changed files." in told
