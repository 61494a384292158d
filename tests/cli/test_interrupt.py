"""Ctrl-C: exit code 130, a quiet end, and nothing half-done. And others who come between."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from forge.cli import main
from tests.cli.conftest import PROGRAM, Forge
from tests.conftest import Git, MakeRepo

INTERRUPTING = """
import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["INTERRUPTED_AT"]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
"""


def _heeding_interrupts() -> None:
    """A run in the background, as some CI does it, hands on that interrupts are ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def started(*args: str, cwd: Path) -> subprocess.Popen[bytes]:
    """The installed program with a standard input that stays open."""
    return subprocess.Popen(
        [PROGRAM, *args],
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_heeding_interrupts,  # noqa: PLW1509
    )


def interrupted(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def unread(process: subprocess.Popen[bytes]) -> int:
    """Bytes that wait in its standard input."""
    assert process.stdin is not None
    return int.from_bytes(fcntl.ioctl(process.stdin, termios.FIONREAD, b"\0" * 4), sys.byteorder)


def command_lines() -> list[bytes]:
    found = []
    for entry in os.scandir("/proc"):
        try:
            found.append(Path(entry.path, "cmdline").read_bytes() if entry.name.isdigit() else b"")
        except OSError:  # it ended meanwhile
            continue
    return found


def test_a_running_command_ends_with_everything_it_started(make_repo: MakeRepo, git: Git, forge: Forge) -> None:
    repo = make_repo({"a.txt": "a\n"})
    before = git(repo, "for-each-ref")
    sleep = f"sleep\x00{60 + os.getpid() / 1e7:.7f}".encode()
    script = f"echo x > a.txt; {sleep.decode().replace(chr(0), ' ')} & wait"
    process = started("exec", "--save", "--", "sh", "-c", script, cwd=repo)
    wait_for(lambda: any(sleep in line for line in command_lines()))

    assert interrupted(process) == (130, b"", b"forge: Interrupted; nothing half-done was left behind.\n")

    assert not any(sleep in line for line in command_lines())
    assert git(repo, "for-each-ref") == before
    assert git(repo, "status", "--porcelain") == ""
    # What it had written to its directory is not there for the next one.
    assert forge("-C", str(repo), "exec", "--", "cat", "a.txt").out == "a\n"


def test_a_save_that_waits_for_its_content_saves_nothing(make_repo: MakeRepo, git: Git) -> None:
    repo = make_repo({"a.txt": "a\n"})
    before = git(repo, "for-each-ref")
    process = started("file", "save", "a.txt", "--json", cwd=repo)
    assert process.stdin is not None
    process.stdin.write(b"half")
    process.stdin.flush()
    wait_for(lambda: not unread(process))
    code, out, err = interrupted(process)
    assert (code, json.loads(out)["error"]["code"]) == (130, "interrupted")
    assert err == b"forge: Interrupted; nothing half-done was left behind.\n"
    assert git(repo, "for-each-ref") == before
    assert not list((repo / ".git").rglob("*.lock"))


def test_a_branch_that_moves_while_a_save_reads_its_content_is_not_overwritten(make_repo: MakeRepo, git: Git) -> None:
    """As in `forge file show f | edit | forge file save f`: all three start at once."""
    repo = make_repo({"a.txt": "a\n"})
    process = started("file", "save", "a.txt", "--json", cwd=repo)
    assert process.stdin is not None
    process.stdin.write(b"half")
    process.stdin.flush()
    wait_for(lambda: not unread(process))
    git(repo, "commit", "--quiet", "--allow-empty", "--message", "theirs")
    theirs = git(repo, "rev-parse", "HEAD")
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, json.loads(out)["error"]["code"]) == (1, "branch_moved")
    assert git(repo, "rev-parse", "HEAD") == theirs


def test_an_interrupt_while_modules_are_loading_is_quiet_too(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted_import(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "import_module", interrupted_import)
    done = forge("log")
    assert (done.code, done.out, done.err) == (130, "", "")
    done = forge("log", "--json")
    assert (done.code, done.error) == (130, "interrupted")
    assert done.err == "forge: Interrupted; nothing half-done was left behind.\n"
    done = forge("exec", "--", "cat", "--json")  # the option is the other command's
    assert (done.code, done.out) == (130, "")


@pytest.mark.parametrize(
    "module",
    ["forge.cli.main", "forge.cli.terminal.session", "typer", "forge.cli.commands.log", "forge.app.values.pages"],
)
def test_a_program_gets_its_document_whatever_was_loading(module: str, make_repo: MakeRepo, tmp_path: Path) -> None:
    """The interrupt comes from the process itself, when it begins to load that module."""
    repo = make_repo({"a.txt": "a\n"})
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTING)
    process = subprocess.run(
        [PROGRAM, "log", "--json"],
        cwd=repo,
        capture_output=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "INTERRUPTED_AT": module},
        preexec_fn=_heeding_interrupts,
        check=False,
    )
    assert process.stderr == b"forge: Interrupted; nothing half-done was left behind.\n"
    assert (process.returncode, json.loads(process.stdout)["error"]["code"]) == (130, "interrupted")
