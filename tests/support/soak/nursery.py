"""The parent's side: starts writers, hears what they did, kills them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True, slots=True)
class Landed:
    commit: str
    subject: str
    branch: str


@dataclass(slots=True)
class Writer:
    """What is known of one process; `landed` holds what it acknowledged."""

    name: str
    asked: float
    pid: int = 0
    landed: list[Landed] = field(default_factory=list)
    lost_races: int = 0
    rounds: int = 0
    first: float | None = None
    """When its first acknowledgement came."""
    failures: list[str] = field(default_factory=list)
    status: int | None = None
    started: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def kill(self) -> None:
        self.started.wait(30)
        if not self.ended.is_set():
            os.kill(self.pid, signal.SIGKILL)
        self.wait()

    def wait(self, seconds: float = 120) -> None:
        if not self.ended.wait(seconds):
            raise TimeoutError(f"{self.name} did not end in {seconds} seconds")

    def wait_for_landed(self, count: int, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while len(self.landed) < count and not self.ended.is_set():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.name} landed {len(self.landed)} commits in {seconds} seconds")
            time.sleep(0.002)


class Nursery:
    """A process that has Forge loaded and forks writers, so that a new one starts in milliseconds."""

    def __init__(self) -> None:
        self._writers: dict[str, Writer] = {}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.soak.writer"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
            bufsize=1,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def start(self, repo: Path, name: str, branch: str, *, work: str = "commits", **order: Any) -> Writer:
        """Each name is used once."""
        assert name not in self._writers
        writer = self._writers[name] = Writer(name, time.monotonic())
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"repo": str(repo), "name": name, "branch": branch, "work": work} | order))
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return writer

    @property
    def writers(self) -> list[Writer]:
        return list(self._writers.values())

    @property
    def landed(self) -> list[Landed]:
        return [one for writer in self.writers for one in writer.landed]

    @property
    def failures(self) -> list[str]:
        return [f"{writer.name}: {text}" for writer in self.writers for text in writer.failures]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        for writer in self.writers:
            writer.kill()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(30)
        self._listener.join(30)
        self._process.stdout.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            report = json.loads(line)
            self._hear(self._writers[report["name"]], report)

    def _hear(self, writer: Writer, report: dict[str, Any]) -> None:
        match report["event"]:
            case "started":
                writer.pid = report["pid"]
                writer.started.set()
            case "landed":
                writer.first = writer.first or time.monotonic()
                writer.landed.append(Landed(report["commit"], report["subject"], report["branch"]))
            case "lost":
                writer.lost_races += 1
            case "round":
                writer.rounds += 1
            case "failed" | "crashed":
                writer.failures.append(report["text"])
            case "ended":
                writer.status = report["status"]
                writer.ended.set()
