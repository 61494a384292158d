"""`forge serve` as people run it: found by a second start, killed and started again, and ended gently."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sqlite3
import stat
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from forge.app.process.server_lock import ServerMissing, ServerRunning, found_server, only_server
from tests.support.fork_context import FORKED
from tests.support.provider import Asked, Provider, message, working
from tests.support.repositories import repository

pytestmark = [pytest.mark.slow, pytest.mark.req("X-02", "X-04")]


class Machine:
    """A data directory, and processes of `forge serve --json` on it."""

    def __init__(self, place: Path, environ: dict[str, str]) -> None:
        self.place = place
        (place / "config.yaml").write_text("")
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": os.environ["HOME"],
            "GIT_CONFIG_GLOBAL": os.environ["GIT_CONFIG_GLOBAL"],
            "FORGE_DATA_DIR": str(self.data),
            "FORGE_CONFIG": str(place / "config.yaml"),
            "FORGE_WORKSPACE": str(place / "workspace"),
            **environ,
        }
        self._started: list[ForkServerProcess] = []

    @property
    def data(self) -> Path:
        return self.place / "data"

    def start(self, *words: str) -> tuple[ForkServerProcess, Path]:
        output = self.place / f"out-{len(self._started)}"
        process = FORKED.Process(target=_run, args=(self.environ, output, words or ("--port", "0")))
        process.start()
        self._started.append(process)
        return process, output

    def serve(self, *words: str) -> tuple[ForkServerProcess, dict[str, Any]]:
        process, output = self.start(*words)
        deadline = time.monotonic() + 60
        while not (output.exists() and output.read_text().endswith("\n")):
            assert process.is_alive() or output.read_text(), output.with_suffix(".err").read_text()
            assert time.monotonic() < deadline, output.with_suffix(".err").read_text()
            time.sleep(0.01)
        lines = output.read_text().splitlines()
        assert len(lines) == 1, lines
        told: dict[str, Any] = json.loads(lines[0])
        return process, told

    @property
    def secret(self) -> str:
        return str(json.loads((self.data / "server.json").read_text())["secret"])

    @contextlib.contextmanager
    def client(self) -> Iterator[httpx.Client]:
        url, headers = found_server(self.data).url, {"Authorization": f"Bearer {self.secret}"}
        with httpx.Client(base_url=url, headers=headers, timeout=30, trust_env=False) as client:
            yield client

    def end(self) -> None:
        for process in self._started:
            if process.is_alive():
                process.kill()
            process.join(30)


def _run(environ: dict[str, str], output: Path, words: tuple[str, ...]) -> None:
    from forge.cli.commands import serve  # noqa: PLC0415
    from forge.cli.terminal.session import Session, run  # noqa: PLC0415

    # Whoever runs the tests in the background of a shell has it ignored, and so would these.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(output.parent)
    for stream, place in ((1, output), (2, output.with_suffix(".err"))):
        os.dup2(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)
    sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
    sys.exit(run(serve.app, "serve", list(words), Session(json=True)))


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(_slowly) as made:
        yield made


def _slowly(asked: Asked) -> Any:
    return working(asked, pause=0.1, command_seconds=0.1)


@pytest.fixture
def machine(tmp_path: Path, provider: Provider) -> Iterator[Machine]:
    made = Machine(tmp_path, provider.environ)
    yield made
    made.end()


class Hearing(threading.Thread):
    """A client that comes back whenever the stream breaks, with the id that it saw last."""

    def __init__(self, machine: Machine, topic: str) -> None:
        super().__init__(daemon=True)
        self._machine = machine
        self._topic = topic
        self.ids: list[int] = []
        self.kinds: list[str] = []
        self.over = threading.Event()
        self.start()

    def run(self) -> None:
        while not self.over.is_set():
            with contextlib.suppress(OSError, ConnectionClosed, ServerMissing, ValueError, EOFError, TimeoutError):
                self._hear()
            time.sleep(0.02)

    def _hear(self) -> None:
        url = found_server(self._machine.data).url.replace("http", "ws", 1)
        headers = {"Authorization": f"Bearer {self._machine.secret}"}
        with connect(f"{url}/api/stream", additional_headers=headers, proxy=None, open_timeout=5) as stream:
            stream.send(json.dumps({"subscribe": self._topic, "after": self.ids[-1] if self.ids else 0}))
            while not self.over.is_set():
                item = json.loads(stream.recv(timeout=5))
                if "id" in item:
                    self.ids.append(item["id"])
                    self.kinds.append(item["event"]["type"])

    def wait_for(self, kind: str, seconds: float = 90) -> None:
        deadline = time.monotonic() + seconds
        while kind not in self.kinds:
            assert time.monotonic() < deadline, self.kinds
            time.sleep(0.02)


def sent(client: httpx.Client, place: Path, task: str) -> tuple[str, str]:
    """The address of the repository and the topic of a turn that has begun in it."""
    id_ = client.post("/api/repositories", json={"path": str(place)}).json()["id"]
    address = f"/api/repositories/{id_}"
    answer = client.post(f"{address}/session/messages", params={"branch": "ai/work"}, json={"text": message(task)})
    assert answer.status_code == 202, answer.text
    return address, answer.json()["topic"]


def test_a_server_killed_in_the_middle_goes_on_and_clients_hear_everything_once(
    machine: Machine, tmp_path: Path
) -> None:
    place = repository(tmp_path, "ai/work")
    process, told = machine.serve()
    assert told["pid"] == process.pid
    assert told["url"] == f"http://127.0.0.1:{told['port']}/?token={told['token']}"
    assert stat.S_IMODE((machine.data / "server.json").stat().st_mode) == 0o600
    second, again = machine.serve("--port", "0")
    second.join(30)
    assert (second.exitcode, again["pid"], again["port"]) == (0, told["pid"], told["port"])
    assert again["token"] != told["token"]
    with httpx.Client(base_url=f"http://127.0.0.1:{told['port']}", trust_env=False) as browser:
        assert browser.get("/", params={"token": again["token"]}).status_code == 303
        assert browser.get("/api/sign-in").json()["id"] == "local"
    with machine.client() as client:
        address, topic = sent(client, place, "first1")
    listeners = [Hearing(machine, topic) for _ in range(3)]
    listeners[0].wait_for("ModelAnswered")
    process.kill()
    process.join(30)
    with pytest.raises(ServerMissing):
        found_server(machine.data)
    machine.serve()
    for listener in listeners:
        listener.wait_for("TurnCommitted")
        listener.over.set()
        listener.join(30)
    with machine.client() as client:
        recorded = client.get("/api/events", params={"topic": topic}).json()["items"]
        turns = client.get(f"{address}/session/turns", params={"branch": "ai/work"}).json()["items"]
    ids = [each["id"] for each in recorded]
    assert ids == list(range(1, len(ids) + 1))
    for listener in listeners:
        assert listener.ids == ids[: len(listener.ids)]
        assert listener.kinds[-1] in ("TurnCommitted", recorded[-1]["event"]["type"])
    assert [(each["asked"], each["status"]) for each in turns] == [(message("first1"), "done")]


def test_a_gentle_end_parks_the_running_turn_which_goes_on_at_the_next_start(
    machine: Machine, tmp_path: Path, provider: Provider
) -> None:
    place = repository(tmp_path, "ai/work")
    process, _ = machine.serve()
    with machine.client() as client:
        address, topic = sent(client, place, "first1")
    listener = Hearing(machine, topic)
    listener.wait_for("ModelAnswered")
    asked = provider.counts[("first1", 1)]
    os.kill(process.pid or 0, signal.SIGTERM)
    process.join(30)
    assert process.exitcode == 0
    assert not (machine.data / "server.json").exists()
    assert "TurnStopped" not in listener.kinds
    machine.serve()
    listener.wait_for("TurnCommitted")
    listener.over.set()
    with machine.client() as client:
        turns = client.get(f"{address}/session/turns", params={"branch": "ai/work"}).json()["items"]
    assert [each["status"] for each in turns] == ["done"]
    assert provider.counts[("first1", 1)] == asked == 1, "what was answered is not asked again"


def test_a_port_that_is_taken_is_told_with_the_next_step(machine: Machine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process, output = machine.start("--port", str(taken.getsockname()[1]))
        process.join(60)
    assert process.exitcode == 1
    error = json.loads(output.read_text())["error"]
    assert error["code"] == "port_taken"
    assert "--port 0" in error["hint"]
    assert not (machine.data / "server.json").exists()


def test_one_process_at_a_time_serves_a_data_directory(tmp_path: Path) -> None:
    with only_server(tmp_path), pytest.raises(ServerRunning), only_server(tmp_path):
        pass
    with only_server(tmp_path):
        pass


def test_a_file_left_by_a_dead_server_finds_nobody(tmp_path: Path) -> None:
    for text in ("", "{}", '{"pid": 1, "host": "127.0.0.1", "port": 1, "secret": "x"}'):
        (tmp_path / "server.json").write_text(text)
        with pytest.raises(ServerMissing):
            found_server(tmp_path)


def _until(true: Any, seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while not true() and time.monotonic() < deadline:
        time.sleep(0.01)
    return bool(true())


def test_a_server_that_cannot_be_announced_ends_and_says_so(machine: Machine) -> None:
    machine.data.mkdir()
    (machine.data / "server.json").mkdir()
    process, _ = machine.start()
    process.join(60)
    assert process.exitcode not in (None, 0)
    assert "server.json" in (machine.place / "out-0").read_text() + (machine.place / "out-0.err").read_text()
    (machine.data / "server.json").rmdir()
    machine.serve()


@pytest.mark.parametrize("moments", [0.0, 0.2, 0.5, 0.9])
def test_a_server_that_is_ended_while_it_starts_ends_without_complaint(machine: Machine, moments: float) -> None:
    process, output = machine.start()
    assert _until((machine.data / "server.lock").exists, 30)
    time.sleep(moments)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGINT)
    process.join(30)
    said = output.with_suffix(".err").read_text()
    assert "Traceback" not in said, said
    assert not (machine.data / "server.json").exists()
    machine.serve()


def test_one_process_answers_and_works(machine: Machine, tmp_path: Path) -> None:
    process, told = machine.serve()
    path = repository(tmp_path, "ai/one")
    with machine.client() as client:
        assert client.get("/api/health").json()["pid"] == told["pid"] == process.pid
        assert _children(process) == [], "nobody else has a part in it"
        id_ = client.post("/api/repositories", json={"path": str(path)}).json()["id"]
        place = {"branch": "ai/one"}
        sent = client.post(
            f"/api/repositories/{id_}/session/messages", params=place, json={"text": message("turn00001")}
        )
        assert sent.status_code == 202, sent.text
        assert _until(
            lambda: client.get(f"/api/repositories/{id_}/session", params=place).json()["working"] is None, 60
        )
        assert client.get(f"/api/repositories/{id_}/session", params=place).json()["turns"] == 1
    with contextlib.closing(sqlite3.connect(machine.data / "forge-runs.db")) as records:
        (ran,) = records.execute("SELECT executor_id FROM workflow_status").fetchone()
    assert f"-{process.pid}-" in ran


def _children(process: ForkServerProcess) -> list[str]:
    tasks = Path(f"/proc/{process.pid}/task").iterdir()
    return [child for task in tasks for child in (task / "children").read_text().split()]
