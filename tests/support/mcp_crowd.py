"""A team of agents at one server: clients of both protocol generations that call once a second, with several keys."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import random
import shutil
import socket
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from tests.support.load import growth, processes_of, resident_of, served, used_by
from tests.support.mcp_wire import NEWEST, meta
from tests.support.sample_repositories import World, path_of

Json = dict[str, Any]
_OLDER = "2025-11-25"
_ACCEPT = {"Accept": "application/json, text/event-stream"}


@dataclass(frozen=True, slots=True)
class Team:
    """`people` have a key each; their agents share it, as they do within the limit of requests of a key."""

    clients: int = 200
    people: int = 20
    seconds: float = 60.0
    warm_up: float = 15.0
    bare_seconds: float = 15.0
    size: str = "1k"


@dataclass(frozen=True, slots=True)
class Answered:
    """Milliseconds, sorted; what went wrong; kilobytes of the server, once a second."""

    times: list[float]
    errors: tuple[str, ...]
    resident: list[int]
    used: float
    """Milliseconds of processor time that the server took for a call: a busy machine changes the times, hardly this."""

    @property
    def most(self) -> float:
        """Of 95 in 100."""
        return self.times[min(len(self.times) - 1, int(len(self.times) * 0.95))]

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def grown(self) -> float:
        return growth(self.resident)


@dataclass(frozen=True, slots=True)
class Compared:
    forge: Answered
    bare: Answered
    """A server of the same library with one tool that answers at once, under the same calls."""
    busy: float


def compared(root: Path, team: Team) -> Compared:
    world = World(root, team.size)
    place = root / "mcp"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    with _bare() as (pid, url):
        bare = asyncio.run(_Crowd(team, url, pid, [""], world.count).work(team.bare_seconds))
    with served(place, {}) as (pid, url, key):
        keys = _keys(url, key, world.path, team.people)
        forge = asyncio.run(_Crowd(team, f"{url}/mcp", pid, keys, world.count).work(team.seconds))
    return Compared(forge, bare, os.getloadavg()[0])


def _keys(url: str, owner: str, repository: Path, people: int) -> list[str]:
    bearer = {"Authorization": f"Bearer {owner}"}
    with httpx.Client(base_url=f"{url}/api", headers=bearer, timeout=30, trust_env=False) as client:
        id_ = _made(client.post("/repositories", json={"path": str(repository)}))["id"]
        keys = []
        for number in range(people):
            name = f"person{number}"
            _made(client.post("/users", json={"name": name}))
            keys.append(_made(client.post("/keys", json={"user": name}))["text"])
            _made(client.put(f"/repositories/{id_}/shares/{name}", json={"right": "write"}))
    return keys


def _made(answer: httpx.Response) -> Json:
    assert answer.is_success, answer.text
    found: Json = answer.json() if answer.content else {}
    return found


@dataclass
class _Crowd:
    team: Team
    url: str
    pid: int
    keys: Sequence[str]
    files: int
    times: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    resident: list[int] = field(default_factory=list)

    async def work(self, seconds: float) -> Answered:
        limits = httpx.Limits(max_connections=self.team.clients, max_keepalive_connections=self.team.clients)
        async with httpx.AsyncClient(limits=limits, timeout=30, trust_env=False) as http:
            over = time.monotonic() + self.team.warm_up + seconds
            clients = [asyncio.create_task(self._client(http, n, over)) for n in range(self.team.clients)]
            await asyncio.sleep(self.team.warm_up)
            self.times.clear()
            processes = processes_of(self.pid)
            before = used_by(processes)
            while time.monotonic() < over:
                self.resident.append(resident_of(processes))
                await asyncio.sleep(1)
            used = (used_by(processes) - before) * 1000 / max(1, len(self.times))
            await asyncio.gather(*clients)
        return Answered(sorted(self.times), tuple(self.errors), self.resident, used)

    async def _client(self, http: httpx.AsyncClient, number: int, over: float) -> None:
        chance = random.Random(number)
        key = self.keys[number % len(self.keys)]
        headers = {**_ACCEPT, **({"Authorization": f"Bearer {key}"} if key else {})}
        await asyncio.sleep(chance.random())
        newest = number % 2 == 0
        if not newest:
            headers = await self._greeted(http, headers)
        turn = 0
        due = time.monotonic()
        while due < over:
            turn += 1
            tool, arguments = _call(chance, self.files)
            params: Json = {"name": tool, "arguments": arguments}
            more: dict[str, str] = {}
            if newest:
                params["_meta"] = meta({})
                more = {"MCP-Protocol-Version": NEWEST, "Mcp-Method": "tools/call", "Mcp-Name": tool}
            body = {"jsonrpc": "2.0", "id": turn, "method": "tools/call", "params": params}
            began = time.perf_counter()
            try:
                answer = await http.post(self.url, json=body, headers={**headers, **more})
                self._check(answer, tool)
            except httpx.HTTPError as e:
                self.errors.append(f"{tool}: {type(e).__name__} {e}")
            self.times.append((time.perf_counter() - began) * 1000)
            due += 1.0
            await asyncio.sleep(max(0.0, due - time.monotonic()))

    async def _greeted(self, http: httpx.AsyncClient, headers: dict[str, str]) -> dict[str, str]:
        hello = {
            "protocolVersion": _OLDER,
            "capabilities": {},
            "clientInfo": {"name": "crowd", "version": "1"},
        }
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
        answer = await http.post(self.url, json=body, headers=headers)
        assert "mcp-session-id" in answer.headers, f"{answer.status_code} {answer.text[:300]}"
        known = {**headers, "MCP-Protocol-Version": _OLDER, "Mcp-Session-Id": answer.headers["mcp-session-id"]}
        await http.post(self.url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=known)
        return known

    def _check(self, answer: httpx.Response, tool: str) -> None:
        text = answer.text
        if "event-stream" in answer.headers.get("content-type", ""):
            text = next((line[6:] for line in text.splitlines() if line.startswith("data: {")), "")
        with suppress(ValueError):
            found = json.loads(text)
            if answer.is_success and not found.get("result", {}).get("isError", True):
                return
        self.errors.append(f"{tool}: {answer.status_code} {text[:200]}")


def _call(chance: random.Random, files: int) -> tuple[str, Json]:
    """What agents do all day: mostly reading files."""
    drawn = chance.random()
    path = path_of(chance.randrange(files), files)
    if drawn < 0.55:
        return "forge_read", {"path": path}
    if drawn < 0.75:
        return "forge_list", {"path": path.rpartition("/")[0]}
    if drawn < 0.85:
        return "forge_get_contract", {"name": "blueprint"}
    if drawn < 0.95:
        return "forge_diff", {"at": "main"}
    return "forge_search", {"pattern": f"line {chance.randrange(files)} "}


@contextmanager
def _bare() -> Iterator[tuple[int, str]]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = multiprocessing.get_context("spawn").Process(target=_serve_bare, args=(port,), daemon=True)
    process.start()
    try:
        for _ in range(300):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.1)
        assert process.pid is not None
        yield process.pid, f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.join(10)


def _serve_bare(port: int) -> None:
    asyncio.run(_bare_server(port))


async def _bare_server(port: int) -> None:
    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        del context, params
        return types.CallToolResult(content=[types.TextContent(type="text", text="hello")])

    server: Server[Any] = Server("bare", on_call_tool=call_tool)
    manager = StreamableHTTPSessionManager(app=server)
    async with manager.run():
        config = uvicorn.Config(
            manager.handle_request,
            host="127.0.0.1",
            port=port,
            interface="asgi3",
            lifespan="off",
            log_level="error",
        )
        await uvicorn.Server(config).serve()
