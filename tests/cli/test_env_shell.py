"""`forge env shell` on a real pseudo-terminal: keys, size, exit code, the question, the terminal as before."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.conftest import PROGRAM, Forge, Installed
from tests.conftest import Git, MakeRepo

pytestmark = pytest.mark.req("B-02", "G-04")


@pytest.fixture
def repo(make_repo: MakeRepo, git: Git, monkeypatch: pytest.MonkeyPatch) -> Path:
    repo = make_repo({"a.txt": "one\n"})
    git(repo, "branch", "topic")
    monkeypatch.chdir(repo)
    return repo


class Screen:
    """The window of a person who runs `forge env shell` in it."""

    def __init__(self, master: int, child: int) -> None:
        self._master = master
        self._seen = ""
        self.child = child
        self.before = self.modes()

    def modes(self) -> list[object]:
        return termios.tcgetattr(self._master)

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def until(self, words: str) -> str:
        """Output up to and with these words."""
        deadline = time.monotonic() + 60
        while words not in self._seen:
            assert time.monotonic() < deadline, f"{words!r} did not come: {self._seen!r}"
            if not self._more():
                raise AssertionError(f"{words!r} did not come before the end: {self._seen!r}")
        before, _, self._seen = self._seen.partition(words)
        return before + words

    def rest(self) -> str:
        while self._more():
            pass
        return self._seen

    def close(self) -> None:
        """As closing the window does."""
        os.dup2(os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC), self._master)

    def exit_code(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])

    def _more(self) -> bool:
        if not select.select([self._master], [], [], 60)[0]:
            raise AssertionError(f"nothing came for a minute: {self._seen!r}")
        try:
            data = os.read(self._master, 65536)
        except OSError:  # how Linux says that the other end is closed
            return False
        self._seen += data.decode("utf-8", "replace")
        return bool(data)


@contextmanager
def shell(*args: str, rows: int = 24, columns: int = 90) -> Iterator[Screen]:
    """A child with the terminal as its own, as a login has it."""
    child, master = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.execve(PROGRAM, ["forge", "env", "shell", *args], {**os.environ, "TERM": "xterm"})
    try:
        yield Screen(master, child)
    finally:
        os.close(master)
        try:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        except (ProcessLookupError, ChildProcessError):
            pass  # the test has waited for it


def test_changes_become_one_commit_on_the_default_branch_if_the_person_says_so(repo: Path, git: Git) -> None:
    with shell() as screen:
        screen.until("main $ ")
        assert screen.modes() != screen.before
        screen.type("cat a.txt; echo two > b.txt; rm a.txt; pwd; exit 7\r")
        assert "one\r\n" in screen.until("Save as one commit? [y/N] ")
        assert screen.modes() == screen.before
        assert git(repo, "log", "--format=%s", "main").count("\n") == 0
        screen.type("y\n")
        assert "Saved → " in screen.rest()
        assert screen.exit_code() == 7
    assert git(repo, "log", "-1", "--format=%s", "main") == "shell: change 2 files"
    assert git(repo, "diff", "--name-status", "main~1", "main") == "D\ta.txt\nA\tb.txt"


def test_changes_are_listed_and_dropped_after_a_no(repo: Path, git: Git) -> None:
    before = git(repo, "for-each-ref")
    with shell("-b", "topic") as screen:
        screen.until("topic $ ")
        screen.type("echo new > n.txt; echo more >> a.txt; exit\r")
        asked = screen.until("[y/N] ")
        assert "modified a.txt\r\nadded n.txt\r\n" in asked
        screen.type("\n")
        assert "Discarded." in screen.rest()
        assert screen.exit_code() == 0
    assert git(repo, "for-each-ref") == before


def test_the_size_is_that_of_the_window_and_follows_it(repo: Path) -> None:
    with shell("--discard", "--", "sh", "-c", "stty size; read x; stty size; exit 3", rows=31, columns=97) as screen:
        screen.until("31 97\r\n")
        screen.resize(40, 120)
        time.sleep(0.3)
        screen.type("\r")
        assert "40 120\r\n" in screen.rest()
        assert screen.exit_code() == 3


def test_ctrl_c_goes_to_the_program_in_the_shell_and_not_to_forge(repo: Path) -> None:
    with shell() as screen:
        screen.until("main $ ")
        screen.type("echo go''ing; sleep 1000\r")
        screen.until("going\r\n")
        time.sleep(0.3)
        screen.type("\x03")
        screen.until("main $ ")
        screen.type("echo code $?; exit 0\r")
        assert "code 130" in screen.until("Nothing changed.")
        assert screen.exit_code() == 0


def test_scripts_save_or_discard_without_a_question(repo: Path, git: Git) -> None:
    with shell("-b", "topic", "--save", "-m", "add n", "--", "sh", "-c", "echo new > n.txt; exit 4") as screen:
        assert "[y/N]" not in screen.rest()
        assert screen.exit_code() == 4
    assert git(repo, "log", "-1", "--format=%s", "topic") == "add n"
    before = git(repo, "for-each-ref")
    with shell("-b", "topic", "--discard", "--", "rm", "a.txt") as screen:
        assert "deleted a.txt\r\nDiscarded." in screen.rest()
        assert screen.exit_code() == 0
    assert git(repo, "for-each-ref") == before


@pytest.mark.req("X-04")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["term", "hup"])
def test_a_signal_restores_the_terminal_and_sets_the_changes_aside(repo: Path, git: Git, number: int) -> None:
    with shell() as screen:
        screen.until("main $ ")
        screen.type("echo kept > k.txt; echo do''ne\r")
        screen.until("done\r\n")
        os.kill(screen.child, number)
        (aside,) = re.findall(r"new branch (main-terminal-[\d-]+)", screen.rest())
        assert screen.modes() == screen.before
        assert screen.exit_code() == 128 + number
    assert git(repo, "show", f"{aside}:k.txt") == "kept"
    assert git(repo, "ls-tree", "--name-only", "main") == "a.txt"


def set_aside(git: Git, repo: Path) -> str:
    return git(repo, "for-each-ref", "--format=%(refname:short)", "refs/heads/main-terminal-*")


@pytest.mark.req("X-04")
@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["ctrl-c", "ctrl-d"])
def test_whoever_leaves_the_question_finds_the_changes_on_a_new_branch(repo: Path, git: Git, key: str) -> None:
    with shell("--", "sh", "-c", "echo kept > k.txt") as screen:
        screen.until("[y/N] ")
        screen.type(key)
        assert "The changes are on the new branch main-terminal-" in screen.rest()
        assert screen.exit_code() == 0
    assert git(repo, "show", f"{set_aside(git, repo)}:k.txt") == "kept"


@pytest.mark.req("X-04")
@pytest.mark.parametrize("words", ["done\r\n", "[y/N] "], ids=["in the shell", "at the question"])
def test_a_closed_window_loses_nothing(repo: Path, git: Git, words: str) -> None:
    end = "sleep 1000" if "done" in words else "exit"
    with shell("--", "sh", "-c", f"echo kept > k.txt; echo do''ne; {end}") as screen:
        screen.until(words)
        screen.close()
        screen.exit_code()
    assert git(repo, "show", f"{set_aside(git, repo)}:k.txt") == "kept"


@pytest.mark.req("X-04")
def test_a_branch_that_moved_is_not_overwritten_and_the_changes_are_kept(repo: Path, git: Git, forge: Forge) -> None:
    with shell("-b", "topic") as screen:
        screen.until("topic $ ")
        screen.type("echo mine > a.txt; exit\r")
        screen.until("[y/N] ")
        assert forge("file", "save", "-b", "topic", "a.txt", stdin="theirs\n").code == 0
        screen.type("y\n")
        (aside,) = re.findall(r"changes are on (topic-terminal-[\d-]+)\.", screen.rest())
        assert screen.exit_code() == 1
    assert git(repo, "show", "topic:a.txt") == "theirs"
    assert git(repo, "show", f"{aside}:a.txt") == "mine"


@pytest.mark.req("X-06")
def test_a_shell_has_no_network_and_sees_no_home(repo: Path, tmp_path: Path) -> None:
    secret = tmp_path / "outside.txt"
    secret.write_text("secret words")
    with shell("--", "sh", "-c", f"cat {secret}; wc -l < /proc/net/route; touch /usr/x") as screen:
        shown = screen.rest()
    assert "secret words" not in shown
    assert "\r\n1\r\n" in shown
    assert "Read-only file system" in shown


def test_an_environment_that_is_not_approved_is_told_with_the_next_command(
    make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(make_repo({".forge/environment.yaml": "setup: ['touch /env/made']\n"}))
    with shell("--", "ls", "/env/made") as screen:
        shown = screen.rest()
        assert screen.exit_code() == 2
    assert "runs without the environment of main. It is not approved." in shown
    assert "→ forge env show -b main, then forge env setup -b main --yes" in shown


def test_a_setup_that_failed_is_told_and_the_shell_runs_without_it(
    make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch, forge: Forge
) -> None:
    monkeypatch.chdir(make_repo({".forge/environment.yaml": "setup: ['exit 9']\n"}))
    assert forge("env", "setup", "--yes").code == 1
    with shell("--", "echo", "ran") as screen:
        shown = screen.rest()
        assert screen.exit_code() == 0
    assert "runs without the environment of main." in shown
    assert "→ forge env show -b main --log, then forge env setup -b main" in shown
    assert "\r\nran\r\n" in shown


def test_an_approved_environment_is_mounted_and_set_up_first_where_it_is_not(
    make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch, forge: Forge
) -> None:
    monkeypatch.chdir(make_repo({".forge/environment.yaml": "setup: ['echo layer > /env/made']\n"}))
    assert forge("env", "setup", "--yes").code == 0
    for first in (False, True):
        with shell("--", "sh", "-c", "cat /env/made; pwd; touch /env/x") as screen:
            shown = screen.rest()
        assert ("Forge sets it up first" in shown) is first
        assert "layer\r\n/source\r\n" in shown
        assert "Read-only file system" in shown
        assert "without the environment" not in shown
        assert forge("env", "clear").code == 0


def test_without_a_terminal_it_is_refused_and_the_other_command_named(
    forge: Forge, installed: Installed, repo: Path
) -> None:
    piped = installed("env", "shell", "--save", "--", "touch", "x")
    assert (piped.code, piped.out) == (1, "")
    assert "needs a terminal" in piped.err
    for words in (["--json"], ["--json", "--save"]):
        done = forge("env", "shell", *words)
        assert (done.code, done.error) == (1, "terminal_needed")
        assert "forge exec" in done.err


@pytest.mark.parametrize(
    "words", [["--save", "--discard"], ["--discard", "-m", "x"], ["-m", " "]], ids=["both", "message", "empty"]
)
def test_options_that_contradict_each_other_are_refused(forge: Forge, repo: Path, words: list[str]) -> None:
    done = forge("--json", "env", "shell", *words)
    assert (done.code, done.error) == (2, "bad_usage")
