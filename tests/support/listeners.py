"""Many WebSocket clients in a process of their own: each checks that it hears every event of its topics once."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

_PATIENCE = 60.0
_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class Report:
    """Over all clients. `unlike` counts topics of clients that ended with another sequence than is on record."""

    clients: int
    recorded: int
    live: int
    lost: int
    doubled: int
    unlike: int
    broken: int
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class _Heard:
    last: int = 0
    count: int = 0
    lost: int = 0
    doubled: int = 0
    digest: Any = field(default_factory=hashlib.sha256)


@dataclass(slots=True)
class _Client:
    topics: tuple[str, ...]
    heard: dict[str, _Heard] = field(default_factory=dict)
    live: int = 0
    subscribed: int = 0
    broken: bool = False
    problems: list[str] = field(default_factory=list)

    def take(self, text: str) -> None:
        item = json.loads(text)
        if "live" in item:
            self.live += 1
        elif "id" in item:
            seen = self.heard.setdefault(item["topic"], _Heard())
            seen.count += 1
            seen.lost += max(0, item["id"] - seen.last - 1)
            seen.doubled += item["id"] <= seen.last
            seen.last = max(seen.last, item["id"])
            seen.digest.update(written(item["id"], item["event"]))
        elif "problem" in item:
            self.problems.append(text)
        elif "subscribed" in item:
            self.subscribed += 1

    def has(self, ends: dict[str, int]) -> bool:
        return all(ends[topic] == 0 or self.heard.get(topic, _Heard()).last >= ends[topic] for topic in self.topics)


def written(id_: int, event: dict[str, Any]) -> bytes:
    """As both sides put it into their digest."""
    return f"{id_} {json.dumps(event, sort_keys=True)}\n".encode()


def listen(pipe: Connection, address: str, key: str, topics: Sequence[tuple[str, ...]]) -> None:
    """Say "ready" when all have subscribed; wait for what the topics ended with; send a `Report`."""
    asyncio.run(_listen(pipe, address, key, [_Client(each) for each in topics]))


async def _listen(pipe: Connection, address: str, key: str, clients: list[_Client]) -> None:
    turn = asyncio.Semaphore(_AT_ONCE)
    tasks = [asyncio.create_task(_hear(client, address, key, turn)) for client in clients]
    while not all(client.broken or client.subscribed == len(client.topics) for client in clients):
        await asyncio.sleep(0.02)
    pipe.send("ready")
    try:
        ends, digests = await asyncio.to_thread(pipe.recv)
    except EOFError:  # whoever wanted to know is gone
        return
    deadline = asyncio.get_running_loop().time() + _PATIENCE
    while asyncio.get_running_loop().time() < deadline and not all(client.has(ends) for client in clients):
        await asyncio.sleep(0.05)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    pipe.send(_reported(clients, ends, digests))


async def _hear(client: _Client, address: str, key: str, turn: asyncio.Semaphore) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    try:
        async with turn:
            socket = await connect(address, additional_headers=headers, proxy=None, open_timeout=60, compression=None)
        async with socket:
            await _follow(client, socket)
    except OSError as e:
        client.problems.append(repr(e))
    finally:
        client.broken = True


async def _follow(client: _Client, socket: ClientConnection) -> None:
    for topic in client.topics:
        await socket.send(json.dumps({"subscribe": topic, "after": 0}))
    async for message in socket:
        client.take(str(message))


def _reported(clients: list[_Client], ends: dict[str, int], digests: dict[str, str]) -> Report:
    heard = [(topic, client.heard.get(topic, _Heard())) for client in clients for topic in client.topics]
    return Report(
        clients=len(clients),
        recorded=sum(each.count for _, each in heard),
        live=sum(client.live for client in clients),
        lost=sum(each.lost + max(0, ends[topic] - each.last) for topic, each in heard),
        doubled=sum(each.doubled for _, each in heard),
        unlike=sum(each.digest.hexdigest() != digests[topic] for topic, each in heard),
        broken=sum(not client.has(ends) for client in clients),
        problems=tuple(problem for client in clients for problem in client.problems)[:5],
    )
