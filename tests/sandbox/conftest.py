"""A directory to confine commands in, a Python they can use there, and a way to find processes that got away."""

from __future__ import annotations

import os
import pwd
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forge import sandbox


@pytest.fixture(autouse=True)
def _bubblewrap_works() -> None:
    found = sandbox.available()
    assert found.works, f"these tests need bubblewrap: {found.reason}"


@pytest.fixture
def box(tmp_path: Path) -> Path:
    directory = tmp_path / "box"
    directory.mkdir()
    return directory


@pytest.fixture(scope="session")
def home() -> Path:
    """The person's real home, whatever HOME says."""
    return Path(pwd.getpwuid(os.getuid()).pw_dir)


@pytest.fixture(scope="session")
def interpreter() -> tuple[str, Path]:
    """The real Python binary below this virtual environment, and the prefix that must be visible for it."""
    return os.path.realpath(sys.executable), Path(sys.base_prefix)


@pytest.fixture
def python(box: Path, interpreter: tuple[str, Path]) -> Callable[..., sandbox.CommandResult]:
    """Runs Python source in the box."""

    def run(source: str, limits: sandbox.Limits = sandbox.DEFAULT_LIMITS, **options: object) -> sandbox.CommandResult:
        binary, prefix = interpreter
        return sandbox.run([binary, "-I", "-c", source], box, limits, readonly=[prefix], **options)  # type: ignore[arg-type]

    return run


class Trace:
    """Marks a run: `env` is inherited by every process of the command; `command` shows in bubblewrap's words too."""

    def __init__(self) -> None:
        self.token = uuid.uuid4().hex
        self.env = {"FORGE_TRACE": self.token}

    def command(self, script: str) -> list[str]:
        return ["sh", "-c", f": {self.token}\n{script}"]

    def processes(self) -> list[int]:
        return self._marked("environ")

    def around(self) -> list[int]:
        """Processes of bubblewrap, and of the command."""
        return self._marked("cmdline")

    def _marked(self, file: str) -> list[int]:
        pids = map(int, filter(str.isdigit, os.listdir("/proc")))
        return [pid for pid in pids if pid != os.getpid() and self.token.encode() in _content(pid, file)]

    def appears(self, count: int = 1, within: float = 10) -> bool:
        return _until(lambda: len(self.processes()) >= count, within)

    def vanishes(self, within: float) -> bool:
        return _until(lambda: not self.processes(), within)


def _content(pid: int, file: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{file}").read_bytes()
    except OSError:
        return b""


def _until(true: Callable[[], bool], within: float) -> bool:
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        if true():
            return True
        time.sleep(0.02)
    return true()


@pytest.fixture
def trace() -> Iterator[Trace]:
    """Nothing that carries the trace may be left at the end of the test."""
    trace = Trace()
    yield trace
    assert trace.processes() == []
