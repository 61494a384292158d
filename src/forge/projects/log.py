"""The operational log of a project, `forge.log`: one JSON object a line, beside the history and not part of it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from forge.projects import fields
from forge.sessions.redaction import Redactor

FILE = "forge.log"
_TAIL = 16_384
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


class Level(StrEnum):
    INFO = "info"
    WARN = "warn"
    ERROR = "error"


class OperationalLog:
    def __init__(self, directory: Path, *, redactor: Redactor | None = None) -> None:
        self.path = directory / FILE
        self.failure: str | None = None
        """Why the last line could not be written; work goes on without it."""
        self._redactor = redactor or Redactor()

    def write(self, level: str, event: str, phase: str, detail: str) -> bool:
        """Append one line; whether it was written. Secrets in `detail` are made unreadable."""
        line = {
            "timestamp": fields.iso(datetime.fromtimestamp(time.time(), UTC)),
            "level": Level(level),
            "event": event,
            "phase": str(phase),
            "detail": self._redactor.text(detail),
        }
        data = (json.dumps(line, ensure_ascii=False) + "\n").encode("utf-8", "replace")
        try:
            self._append(data)
        except OSError as e:
            self.failure = f"{FILE} could not be written: {e.strerror or e}"
            return False
        self.failure = None
        return True

    def lines(self) -> Iterator[dict[str, Any]]:
        """What was written, oldest first; a line that a crash cut off is left out."""
        try:
            text = self.path.read_text("utf-8", "replace")
        except FileNotFoundError:
            return
        for line in text.splitlines():
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                yield value

    def last(self) -> dict[str, Any] | None:
        """The newest whole line, read from the end."""
        try:
            with self.path.open("rb") as file:
                file.seek(max(0, self.path.stat().st_size - _TAIL))
                found = file.read().decode("utf-8", "replace").splitlines()
            value = json.loads(found[-1]) if found else None
        except (OSError, ValueError):
            return None
        return value if isinstance(value, dict) else None

    def _append(self, data: bytes) -> None:
        fd = os.open(self.path, _FLAGS, 0o644)
        try:
            # One call, so that lines of several processes never mix.
            os.write(fd, data)
        finally:
            os.close(fd)
