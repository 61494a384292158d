"""A terminal for tests: runs the installed program on a pseudo-terminal and gives back what arrives there."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from tests.cli.conftest import PROGRAM


def on_terminal(*args: str, cwd: Path, env: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Exit code and everything that standard output and error wrote to one terminal."""
    master, slave = os.openpty()
    variables = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "PAGER": "cat", **(env or {})}
    process = subprocess.Popen(
        [PROGRAM, *args], cwd=cwd, env=variables, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave
    )
    os.close(slave)
    try:
        shown = _until_closed(master)
        return process.wait(60), shown.decode("utf-8", "surrogateescape")
    finally:
        os.close(master)
        process.kill()
        process.wait()


def _until_closed(master: int) -> bytes:
    shown = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([master], [], [], 1)[0]:
            try:
                data = os.read(master, 65536)
            except OSError:  # how Linux says that the other end is closed
                return shown
            if not data:
                return shown
            shown += data
    raise AssertionError(f"The program did not end; it showed {shown!r}")


class Terminal:
    """A person's terminal: the program runs while the test types and reads."""

    def __init__(self, *args: str, cwd: Path) -> None:
        self._args = args
        self._cwd = cwd
        self._shown = b""

    def __enter__(self) -> Self:
        self._master, slave = os.openpty()
        variables = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "PAGER": "cat"}
        self._process = subprocess.Popen(
            [PROGRAM, *self._args], cwd=self._cwd, env=variables, stdin=slave, stdout=slave, stderr=slave
        )
        os.close(slave)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._master)
        self._process.kill()
        self._process.wait()

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    def read_until(self, text: str) -> str:
        """What arrives up to and with `text`."""
        wanted, deadline = text.encode(), time.monotonic() + 60
        while wanted not in self._shown:
            assert time.monotonic() < deadline, f"{text!r} did not come; there was {self._shown!r}"
            if select.select([self._master], [], [], 1)[0]:
                self._shown += os.read(self._master, 65536)
        before, _, self._shown = self._shown.partition(wanted)
        return before.decode("utf-8", "surrogateescape")

    def interrupt(self) -> None:
        """As Ctrl-C does where the terminal is the process's own."""
        self._process.send_signal(signal.SIGINT)

    def wait(self) -> int:
        return self._process.wait(60)
