"""A real `forge serve` on loopback with a scripted provider, and a real browser that is signed in to it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from forge.app.access.identity import one_time_token, server_secret
from tests.support.provider import Provider

CHROMIUM = os.environ.get("FORGE_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
_START_SECONDS = 60.0


@dataclass
class Desk:
    """A data directory and the one server on it: it can be killed and started again at the same address."""

    place: Path
    provider: Provider
    environ: Mapping[str, str] = field(default_factory=dict)
    port: int = 0
    made: int = 0
    _process: subprocess.Popen[bytes] | None = None
    _token: str = ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        (self.place / "config.yaml").touch()
        words = [str(Path(sys.executable).parent / "forge"), "serve", "--port", str(self.port), "--json"]
        with (self.place / "complaints").open("ab") as complaints:
            self._process = subprocess.Popen(
                words, env=self._environ(), cwd=self.place, stdout=subprocess.PIPE, stderr=complaints
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, self.complaints()
        told = json.loads(line)
        self.port, self._token = told["port"], told["token"]

    def complaints(self) -> str:
        return (self.place / "complaints").read_text()

    def kill(self) -> None:
        """As a crash does it."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)
        if process.stdout is not None:
            process.stdout.close()

    def _environ(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("FORGE_", "ANTHROPIC_"))}
        return {
            **kept,
            "FORGE_DATA_DIR": str(self.place / "data"),
            "FORGE_CONFIG": str(self.place / "config.yaml"),
            "FORGE_WORKSPACE": str(self.place / "workspace"),
            **self.provider.environ,
            **self.environ,
        }

    @contextmanager
    def client(self) -> Iterator[httpx.Client]:
        """As a program of the person at this machine."""
        secret = json.loads((self.place / "data" / "server.json").read_text())["secret"]
        headers = {"Authorization": f"Bearer {secret}"}
        with httpx.Client(base_url=self.url, headers=headers, timeout=30, trust_env=False) as client:
            yield client

    def run(self, *words: str) -> str:
        """A `forge` command on the same data; what it printed."""
        command = [str(Path(sys.executable).parent / "forge"), *words]
        done = subprocess.run(command, env=self._environ(), cwd=self.place, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def repository(self, files: Mapping[str, str | bytes] | None = None, *, name: str = "") -> str:
        """The id of a new one with one commit on main."""
        self.made += 1
        path = self.place / (name or f"garden-{self.made}")
        self.git(self.place, "init", "--quiet", "--initial-branch=main", str(path))
        for file, text in (files or {"README.md": "# Garden\n", "beds/north.md": "tulips\n"}).items():
            (path / file).parent.mkdir(parents=True, exist_ok=True)
            (path / file).write_bytes(text.encode() if isinstance(text, str) else text)
        self.git(path, "add", "--all")
        self.git(path, "commit", "--quiet", "--message", "First")
        with self.client() as client:
            added = client.post("/api/repositories", json={"path": str(path)})
        assert added.is_success, added.text
        return str(added.json()["id"])

    @staticmethod
    def git(directory: Path, *words: str) -> str:
        who = ["-c", "user.name=Ada Example", "-c", "user.email=ada@example.org"]
        done = subprocess.run(["git", *who, *words], cwd=directory, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def address(self, path: str) -> str:
        """Signs in with a new one-time token where the browser has no cookie yet."""
        return f"{self.url}{path}"

    def token(self) -> str:
        """A one-time token: the first start's own, then such as a second start makes, which takes a second each."""
        token, self._token = self._token, ""
        return token or one_time_token(server_secret(self.place / "data"))


@contextmanager
def opened(place: Path, provider: Provider, **environ: str) -> Iterator[Desk]:
    desk = Desk(place, provider, environ)
    desk.start()
    try:
        yield desk
    finally:
        desk.stop()


def until(holds: Any, *, seconds: float = 20.0) -> None:
    """Wait for something outside the browser; inside it, `expect` of playwright waits."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
