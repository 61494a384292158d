"""What a setup prints: kept in a file, the last lines in memory, and each step told."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

_LAST_LINES = 40
LOG_BYTES = 8 << 20
STEP = "forge-step "
"""Begins the line that the script prints before each command."""

OnProgress = Callable[[int, int, str], None]
"""Which step of how many, and its command or newest line."""


class SetupLog:
    """Keeps what the commands print, and tells each step."""

    def __init__(self, file: Path, commands: tuple[str, ...], on_progress: OnProgress) -> None:
        self._file = file.open("ab")
        self._commands = commands
        self._on_progress = on_progress
        self._left = LOG_BYTES
        self._rest = b""
        self._lines: list[str] = []
        self._step = 0
        self._lock = threading.Lock()

    @property
    def command(self) -> str:
        return self._commands[self._step - 1] if self._step else "the setup"

    def hear(self, stream: str, data: bytes) -> None:
        del stream
        with self._lock:
            *lines, self._rest = (self._rest + data).split(b"\n")
            for line in lines:
                self._take(line.decode("utf-8", "replace").rstrip("\r"))
            if len(self._rest) > 10_000:
                self._take(self._rest.decode("utf-8", "replace"))
                self._rest = b""
            self._file.flush()

    def _take(self, line: str) -> None:
        number = line.removeprefix(STEP)
        if line.startswith(STEP) and number.isdigit() and int(number) == self._step + 1 <= len(self._commands):
            self._step += 1
            self._on_progress(self._step, len(self._commands), self.command)
            return
        if not line and not self._lines:
            return
        if self._left > 0:
            self._left -= self._file.write(line.encode() + b"\n")
        if line.strip():
            self._lines = [*self._lines[1 - _LAST_LINES :], line]

    def tail(self) -> list[str]:
        return self._lines

    def take_rest(self) -> None:
        """The last line, which nothing ends."""
        with self._lock:
            if self._rest:
                self._take(self._rest.decode("utf-8", "replace"))
                self._rest = b""
            self._file.flush()

    def close(self) -> None:
        self._file.close()
