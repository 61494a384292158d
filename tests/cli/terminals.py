"""A terminal for tests: runs the installed program on a pseudo-terminal and gives back what arrives there."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from tests.cli.conftest import PROGRAM


def on_terminal(*args: str, cwd: Path, env: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Exit code and everything that standard output and error wrote to one terminal."""
    master, slave = os.openpty()
    variables = {**os.environ, "TERM": "xterm", "COLUMNS": "100", **(env or {})}
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
