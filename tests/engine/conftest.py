"""Engines in the test's own process, and in processes that can be killed."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from forge.engine.engine import Engine
from forge.events import BranchChanged
from forge.store.database import Database
from forge.store.events import Events
from tests.engine.process import main
from tests.store.conftest import database
from tests.support.fork_context import FORKED
from tests.support.postgres import postgres

__all__ = ["database", "postgres"]

StartEngine = Callable[..., Any]

ON_BOTH = pytest.mark.parametrize("url", ["sqlite", "postgresql"], indirect=True)
"""For tests that SQLite alone would not prove."""


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if getattr(request, "param", "sqlite") == "sqlite":
        return f"sqlite:///{tmp_path}/data/forge.db"
    return str(request.getfixturevalue("postgres").new_database())


@pytest_asyncio.fixture
async def start_engine(database: Database) -> AsyncIterator[StartEngine]:
    """Starts an engine with these workflows; one at a time."""
    engines: list[Engine] = []

    async def start(workflows: dict[str, Any], **options: Any) -> Engine:
        engine = Engine(database, **options)
        for name, workflow in workflows.items():
            engine.register(name, workflow)
        await engine.start()
        engines.append(engine)
        return engine

    yield start
    for engine in engines:
        await engine.close()


class Process:
    """Another process with an engine."""

    def __init__(self, url: str, directory: Path, **engine: Any) -> None:
        self.diary = directory / "diary"
        self._terminal = directory / f"terminal-{uuid.uuid4().hex}"
        self._pipe, theirs = FORKED.Pipe()
        options = {"url": url, "diary": str(self.diary), "terminal": str(self._terminal), "engine": engine}
        self._process = FORKED.Process(target=main, args=(options, theirs))
        self._process.start()
        theirs.close()
        self._ready: float | None = None

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    def ready(self) -> float:
        """Seconds that the start of its engine took."""
        if self._ready is None:
            self._ready = self._receive()
        return self._ready

    def _receive(self) -> Any:
        assert self._pipe.poll(60), f"no reply: {self.terminal()}"
        try:
            return self._pipe.recv()
        except EOFError:
            raise AssertionError(self.terminal()) from None

    def ask(self, what: str, *arguments: Any, **named: Any) -> Any:
        self.ready()
        self._pipe.send((what, arguments, named))
        return self._receive()

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()
        self._process.join(10)

    def close(self) -> str:
        """Gives what it wrote to the terminal."""
        self.ready()
        self._pipe.send(("close", (), {}))
        self._process.join(30)
        assert self._process.exitcode == 0, self.terminal()
        return self.terminal()

    def terminal(self) -> str:
        return self._terminal.read_text() if self._terminal.exists() else ""

    def end(self) -> None:
        self.kill()
        self._pipe.close()
        self._process.close()


@pytest.fixture
def start_process(url: str, tmp_path: Path) -> Iterator[Callable[..., Process]]:
    started: list[Process] = []

    def start(**engine: Any) -> Process:
        started.append(Process(url, tmp_path, **engine))
        return started[-1]

    yield start
    for process in started:
        process.end()


def wait_until(condition: Callable[[], object], *, seconds: float = 20) -> float:
    """Gives how long it took."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, "it did not come true"
        time.sleep(0.01)
    return time.monotonic() - began


def noted(diary: Path, *words: str) -> list[list[str]]:
    lines = diary.read_text().splitlines() if diary.exists() else []
    return [line.split() for line in lines if line.split()[1 : 1 + len(words)] == list(words)]


def branches(database: Database, topic: str) -> list[str | None]:
    found = Events(database).after(topic)
    return [item.event.commit for item in found if isinstance(item.event, BranchChanged)]


def put_to_sleep(process: Process, directory: Path) -> None:
    """Not in the middle of writing to a SQLite file, which would hold up everybody else."""
    while True:
        process.signal(signal.SIGSTOP)
        if all(_can_write(directory / name) for name in ("forge.db", "forge-runs.db")):
            return
        process.signal(signal.SIGCONT)
        time.sleep(0.01)


def _can_write(path: Path) -> bool:
    connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()
    return True
