"""Commands and servers on one data directory, as real processes that are forked from one which has Forge loaded."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from tests.cli.conftest import Ran
from tests.support.fork_context import FORKED


def until(condition: Callable[[], object], *, what: Callable[[], object] = lambda: "") -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain: {what()}"
        time.sleep(0.01)


class Process:
    """One run of `forge`."""

    def __init__(self, process: ForkServerProcess, output: Path) -> None:
        self._process = process
        self._output = output

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    @property
    def out(self) -> str:
        return self._output.read_text() if self._output.exists() else ""

    @property
    def err(self) -> str:
        errors = self._output.with_suffix(".err")
        return errors.read_text() if errors.exists() else ""

    def until_told(self, text: str) -> None:
        until(lambda: text in self.out + self.err or not self.alive, what=lambda: self.out + self.err)
        assert text in self.out + self.err, self.out + self.err

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def ended(self) -> Ran:
        self._process.join(60)
        assert not self.alive, self.out + self.err
        return Ran(self._process.exitcode or 0, self.out, self.err)

    def end(self) -> None:
        if self.alive:
            self._process.kill()
        self._process.join(30)


class Beside:
    """A data directory, with whatever runs on it."""

    def __init__(self, place: Path, environ: Mapping[str, str]) -> None:
        self._place = place
        self._started: list[Process] = []
        (place / "config.yaml").touch()
        self.data = place / "data"
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": os.environ["HOME"],
            "GIT_CONFIG_GLOBAL": os.environ["GIT_CONFIG_GLOBAL"],
            "FORGE_DATA_DIR": str(self.data),
            "FORGE_CONFIG": str(place / "config.yaml"),
            "FORGE_WORKSPACE": str(place / "workspace"),
            **environ,
        }

    def start(self, *words: str, cwd: Path | None = None, environ: Mapping[str, str] | None = None) -> Process:
        output = self._place / f"process-{len(self._started)}"
        given = (list(words), {**self.environ, **(environ or {})}, cwd or self._place, output)
        process = FORKED.Process(target=_run, args=given)
        process.start()
        self._started.append(Process(process, output))
        return self._started[-1]

    def run(self, *words: str, cwd: Path | None = None, environ: Mapping[str, str] | None = None) -> Ran:
        return self.start(*words, cwd=cwd, environ=environ).ended()

    def serve(self, *words: str, cwd: Path | None = None, environ: Mapping[str, str] | None = None) -> Process:
        """A server that has told commands all about itself."""
        server = self.start("serve", "--json", "--port", "0", *words, cwd=cwd, environ=environ)
        until(lambda: self._describes(server) or not server.alive, what=lambda: server.err)
        assert self._describes(server), server.err
        return server

    def _describes(self, server: Process) -> bool:
        told = self.told()
        return told.get("pid") == server.pid and bool(told.get("settings"))

    def told(self) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((self.data / "server.json").read_text())
        except (FileNotFoundError, ValueError):
            return {}
        return found

    def runs(self) -> dict[str, int]:
        """Every run so far, and the process that had it last."""
        with sqlite3.connect(self.data / "forge-runs.db") as connection:
            rows = connection.execute("SELECT workflow_uuid, executor_id FROM workflow_status").fetchall()
        connection.close()
        return {run: int(name.rsplit("-", 2)[1]) for run, name in rows}

    def begun_runs(self) -> list[str]:
        """Those that a process has taken from their queue and not finished."""
        with sqlite3.connect(self.data / "forge-runs.db") as connection:
            rows = connection.execute("SELECT workflow_uuid FROM workflow_status WHERE status = 'PENDING'").fetchall()
        connection.close()
        return [run for (run,) in rows]


@contextmanager
def beside(place: Path, environ: Mapping[str, str]) -> Iterator[Beside]:
    made = Beside(place, environ)
    try:
        yield made
    finally:
        for process in made._started:
            process.end()


def _run(words: list[str], environ: dict[str, str], cwd: Path, output: Path) -> None:
    from forge.cli.main import main  # noqa: PLC0415

    os.environ.clear()
    os.environ.update(environ)
    os.chdir(cwd)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream, place in ((1, output), (2, output.with_suffix(".err"))):
        os.dup2(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    main(words)
