"""A server under load: clients that listen, turns that run, and people who read and save files, all at once."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import multiprocessing
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import connect

from tests.support import listeners, turn_crowd
from tests.support.provider import Asked, Provider, message
from tests.support.sample_repositories import World, path_of
from tests.support.stand_in import Reply

Json = dict[str, Any]
_SIDES = 5
_RECORDED = 1000
FLAT = 2.0
"""Percent. What is kept of files and commits has a budget (`forge.git.objects.cache`) that fills in some minutes."""
_ENDED = {"TurnCommitted", "TurnStopped", "TurnSetAside"}
_ANSWERS = 3
_TALK = 3
"""Turns of a conversation; then it goes back to its first one. What is asked of the server stays the same that way:
a longer conversation takes more memory while its turn runs, which is no growth of the server's own."""
_PIECES = ("Some more words ", "of the answer ", "come one after ", "another, as they ", "do. ") * 24
"""An answer of about 360 tokens; at the pace below it takes six seconds, three answers and their tools a turn."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """How much is asked of the server, and for how long."""

    seconds: float = 60.0
    clients: int = 200
    turns: int = 20
    per_second: float = 50.0
    saves_per_second: float = 5.0
    size: str = "10k"
    pace: float = 0.05
    """Seconds before each piece of a model's answer, here some 60 tokens a second; 0 is at once."""
    warm_up: float = 60.0
    """Seconds of the same load before anything is counted: caches, connections and threads are there then."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """Times in milliseconds, sorted."""

    reads: dict[str, list[float]]
    saves: list[float]
    turns: int
    unfinished: tuple[str, ...]
    """Turns that ended otherwise than with a commit."""
    errors: tuple[str, ...]
    heard: listeners.Report
    resident: list[int]
    """Kilobytes of the server, once a second."""
    used: float
    """Seconds of processor time that the server took in each second."""
    busy: float
    """The machine's load average at the end."""

    @property
    def all_reads(self) -> list[float]:
        return sorted(each for times in self.reads.values() for each in times)

    @property
    def grown(self) -> float:
        """Percent that the server has grown by, from the first third of the time to the last."""
        return growth(self.resident)


def growth(resident: Sequence[int]) -> float:
    third = max(1, len(resident) // 3)
    return (statistics.fmean(resident[-third:]) / statistics.fmean(resident[:third]) - 1) * 100


def loaded(root: Path, crowd: Crowd) -> Loaded:
    world = World(root, crowd.size)
    for number in range(crowd.turns):
        world.git("branch", f"ai/{number}", "main")
    for number in range(_SIDES):
        world.git("branch", f"side/{number}", "main")
    place = root / "load"
    place.mkdir(exist_ok=True)
    with _provided(place, crowd.pace) as environ, served(place, environ) as (pid, url, key):
        return asyncio.run(_Driver(crowd, world, pid, url, key).run())


@contextmanager
def _provided(place: Path, pace: float) -> Iterator[Mapping[str, str]]:
    """A model that answers at the pace of a real one, in a process of its own; without a pace, a recording."""
    if not pace:
        yield {"FORGE_MODEL": turn_crowd.environment(place, _RECORDED)["FORGE_MODEL"]}
        return
    spawning = multiprocessing.get_context("spawn")
    here, there = spawning.Pipe()
    process = spawning.Process(target=_provide, args=(there, pace), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        process.kill()
        process.join(10)


def _provide(pipe: Connection, pace: float) -> None:
    with Provider(lambda asked: _answered(asked, pace)) as provider:
        pipe.send(provider.environ)
        signal.pause()


def _answered(asked: Asked, pace: float) -> Reply:
    path = f"notes/{asked.task}.txt"
    match asked.number:
        case 1:
            return Reply(_PIECES, (("write_file", {"path": path, "content": "one\n"}),), pause=pace)
        case 2:
            change = {"path": path, "search": "one", "replace": "two"}
            return Reply(_PIECES, (("search_replace", change),), pause=pace)
    return Reply((*_PIECES, f"\n\nCommit: Write {asked.task}"), pause=pace)


@contextmanager
def served(place: Path, environ: Mapping[str, str]) -> Iterator[tuple[int, str, str]]:
    """`forge serve` as people run it: its process, its address and the key of its owner's programs."""
    (place / "config.yaml").write_text("")
    around = {
        **{name: value for name, value in os.environ.items() if not name.startswith("FORGE_")},
        "FORGE_DATA_DIR": str(place / "data"),
        "FORGE_CONFIG": str(place / "config.yaml"),
        "FORGE_WORKSPACE": str(place / "workspace"),
        **environ,
    }
    words = [str(Path(sys.executable).parent / "forge"), "serve", "--port", "0", "--json"]
    with (place / "complaints").open("wb") as complaints:
        process = subprocess.Popen(words, env=around, stdout=subprocess.PIPE, stderr=complaints)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, (place / "complaints").read_text()
        told = json.loads(line)
        secret = json.loads((place / "data" / "server.json").read_text())["secret"]
        yield told["pid"], f"http://127.0.0.1:{told['port']}", secret
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)
        if process.stdout is not None:
            process.stdout.close()


@dataclass
class _Driver:
    """Sends everything, in time: what is late does not hold up what follows."""

    crowd: Crowd
    world: World
    pid: int
    url: str
    key: str
    reads: dict[str, list[float]] = field(default_factory=dict)
    saves: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    unfinished: list[str] = field(default_factory=list)
    resident: list[int] = field(default_factory=list)
    turn_over: dict[str, asyncio.Event] = field(default_factory=dict)
    ending: bool = False
    processes: list[int] = field(default_factory=list)
    chance: random.Random = field(default_factory=lambda: random.Random(5))

    async def run(self) -> Loaded:
        headers = {"Authorization": f"Bearer {self.key}"}
        # The server closes a connection that was idle for 5 seconds; whoever uses it in that moment hears nothing.
        limits = httpx.Limits(max_connections=200, max_keepalive_connections=100, keepalive_expiry=2)
        async with httpx.AsyncClient(
            base_url=self.url, headers=headers, timeout=60, trust_env=False, limits=limits
        ) as self.client:
            added = await self.client.post("/api/repositories", json={"path": str(self.world.path)})
            self.repository = added.json()["id"]
            for number in range(5):
                await self.client.post("/api/projects", json={"name": f"Project {number}", "agent": "builtin"})
            return await self._run()

    @property
    def address(self) -> str:
        return f"/api/repositories/{self.repository}"

    def topic(self, branch: str) -> str:
        return f"branch:{self.repository}:{branch}"

    @property
    def branches(self) -> list[str]:
        return [f"ai/{number}" for number in range(self.crowd.turns)]

    async def _run(self) -> Loaded:
        sides = [f"side/{number}" for number in range(_SIDES)]
        wanted = [
            (self.topic(self.branches[n % self.crowd.turns]), self.topic(sides[n % _SIDES]))
            for n in range(self.crowd.clients)
        ]
        with _listening(self.url, self.key, wanted) as pipe:
            assert await asyncio.to_thread(pipe.recv) == "ready"
            turning = [
                asyncio.create_task(self._turns()),
                *(asyncio.create_task(self._branch(b, after)) for b, after in self._starts()),
            ]
            # The first turn loads the model's library, which takes seconds once.
            while self.ends["TurnCommitted"] < self.crowd.turns and not self.errors:
                await asyncio.sleep(0.1)
            self.processes = processes_of(self.pid)
            await self._ask_and_watch(self.crowd.warm_up)
            self.reads, self.saves, self.resident = {}, [], []
            self.ends.clear()
            began, used = time.perf_counter(), used_by(self.processes)
            await self._ask_and_watch(self.crowd.seconds)
            used = (used_by(self.processes) - used) / (time.perf_counter() - began)
            self.ending = True
            await asyncio.wait_for(asyncio.gather(*turning[1:]), 300)
            turning[0].cancel()
            busy = os.getloadavg()[0]
            topics = sorted({topic for pair in wanted for topic in pair})
            records = dict(zip(topics, [await self._record(topic) for topic in topics], strict=True))
            pipe.send(({t: each[0] for t, each in records.items()}, {t: each[1] for t, each in records.items()}))
            report = await asyncio.to_thread(pipe.recv)
            await asyncio.gather(turning[0], return_exceptions=True)
        self.saves.sort()
        committed = self.ends["TurnCommitted"]
        return Loaded(
            reads=self.reads,
            saves=self.saves,
            turns=committed,
            unfinished=tuple(self.unfinished),
            errors=tuple(self.errors),
            heard=report,
            resident=self.resident,
            used=used,
            busy=busy,
        )

    async def _record(self, topic: str) -> tuple[int, str]:
        """The last id of a topic and the digest of all that is on record."""
        digest, after = hashlib.sha256(), 0
        while True:
            found = (await self.client.get("/api/events", params={"topic": topic, "after": after})).json()
            for item in found["items"]:
                digest.update(listeners.written(item["id"], item["event"]))
            if found["next"] == after:
                return after, digest.hexdigest()
            after = found["next"]

    async def _turns(self) -> None:
        """Learns when a turn is over."""
        self.turn_over = {self.topic(branch): asyncio.Event() for branch in self.branches}
        query = "&".join(f"topic={topic}" for topic in self.turn_over)
        headers = {"Authorization": f"Bearer {self.key}"}
        address = f"{self.url.replace('http', 'ws', 1)}/api/stream?{query}"
        async with connect(address, additional_headers=headers, proxy=None, open_timeout=60) as socket:
            async for text in socket:
                item = json.loads(text)
                kind = item.get("event", {}).get("type") if "id" in item else None
                if kind in _ENDED:
                    self.ends[kind] += 1
                    if kind != "TurnCommitted":
                        self.unfinished.append(json.dumps(item["event"]))
                    self.turn_over[item["topic"]].set()

    def _starts(self) -> list[tuple[str, float]]:
        """One after the other over the time of a turn: people do not begin theirs in the same moment."""
        length = _ANSWERS * len(_PIECES) * self.crowd.pace
        return [(branch, length * number / self.crowd.turns) for number, branch in enumerate(self.branches)]

    async def _branch(self, branch: str, after: float) -> None:
        """One turn after another, without a pause."""
        await asyncio.sleep(after)
        number = said = 0
        while not self.ending:
            number += 1
            over = self.turn_over.get(self.topic(branch))
            if over is None:
                await asyncio.sleep(0.01)
                continue
            over.clear()
            text = {"text": message(f"turn{branch.removeprefix('ai/')}{number:05d}")}
            try:
                sent = await self.client.post(f"{self.address}/session/messages", params={"branch": branch}, json=text)
            except httpx.HTTPError as e:
                self.errors.append(f"{branch}: {e!r}")
                return
            if sent.status_code == 202:
                await over.wait()
                said += 1
                if said == _TALK:
                    said = 1
                    await self._go_back(branch)
            elif sent.json().get("code") == "branch_busy":
                await asyncio.sleep(0.05)
            else:
                self.errors.append(f"{branch}: {sent.text}")
                return

    async def _go_back(self, branch: str) -> None:
        for _ in range(100):
            address = f"{self.address}/session/rewind"
            gone = await self.client.post(address, params={"branch": branch}, json={"turn": "1"})
            if gone.status_code == 200:
                return
            await asyncio.sleep(0.05)  # the turn's run is about to end
        self.errors.append(f"{branch}: {gone.text}")

    async def _ask_and_watch(self, seconds: float) -> None:
        began = time.perf_counter()
        every = 1 / self.crowd.per_second
        share = round(self.crowd.per_second / self.crowd.saves_per_second)
        asked: list[asyncio.Task[None]] = []
        for number in range(math.ceil(seconds * self.crowd.per_second)):
            await asyncio.sleep(max(0.0, began + number * every - time.perf_counter()))
            asked.append(asyncio.create_task(self._save(number // share) if number % share == 0 else self._read()))
            if number % int(self.crowd.per_second) == 0:
                self.resident.append(resident_of(self.processes))
        await asyncio.gather(*asked)

    async def _save(self, number: int) -> None:
        path = path_of(self.chance.randrange(self.world.count), self.world.count)
        data = f"# {number}\n{self.chance.random()}\n" * 40
        began = time.perf_counter()
        place = {"branch": f"side/{number % _SIDES}"}
        if await self._sent("PUT", f"{self.address}/files/{path}", params=place, content=data.encode()):
            self.saves.append((time.perf_counter() - began) * 1000)

    async def _read(self) -> None:
        path = path_of(self.chance.randrange(self.world.count), self.world.count)
        name, address, query = self.chance.choice(
            (
                ("a file", f"{self.address}/files/{path}", {"branch": "main"}),
                ("a page of files", f"{self.address}/files", {"branch": "main", "after": path, "limit": 100}),
                ("a page of the log", f"{self.address}/commits", {"rev": "side/0", "limit": 50}),
                ("projects", "/api/projects", {}),
                ("the board", "/api/board", {}),
            )
        )
        began = time.perf_counter()
        if await self._sent("GET", address, params=query):
            self.reads.setdefault(name, []).append((time.perf_counter() - began) * 1000)

    async def _sent(self, method: str, address: str, **options: Any) -> bool:
        try:
            answer = await self.client.request(method, address, **options)
        except httpx.HTTPError as e:
            self.errors.append(f"{method} {address}: {e!r}")
            return False
        if answer.status_code != 200:
            self.errors.append(f"{method} {address}: {answer.status_code} {answer.text[:200]}")
        return answer.status_code == 200


@contextmanager
def _listening(url: str, key: str, topics: Sequence[tuple[str, ...]]) -> Iterator[Connection]:
    spawning = multiprocessing.get_context("spawn")
    here, there = spawning.Pipe()
    address = f"{url.replace('http', 'ws', 1)}/api/stream"
    process = spawning.Process(target=listeners.listen, args=(there, address, key, topics), daemon=True)
    process.start()
    there.close()
    try:
        yield here
    finally:
        with suppress(OSError):
            here.close()
        process.join(10)
        process.kill()


def processes_of(pid: int) -> list[int]:
    """The server, and its relay to providers: whatever it has begun that runs Python and stays."""
    begun = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [pid, *(child for child in begun if "python" in Path(f"/proc/{child}/cmdline").read_text())]


def resident_of(processes: Sequence[int]) -> int:
    """Kilobytes of their own; what two of them share is counted in parts.

    Without what is mapped from files, such as libraries and packs: that is the system's cache, and their part of it
    grows when another program that has the same libraries ends.
    """
    rollups = [Path(f"/proc/{each}/smaps_rollup").read_text() for each in processes]
    lines = [line for text in rollups for line in text.splitlines() if line.startswith("Pss_Anon:")]
    return sum(int(line.split()[1]) for line in lines)


def used_by(processes: Sequence[int]) -> float:
    """Seconds of processor time so far."""
    fields = [Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[11:13] for each in processes]
    return sum(int(user) + int(system) for user, system in fields) / os.sysconf("SC_CLK_TCK")
