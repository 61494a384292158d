"""The event stream as a client of the WebSocket reads it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from websockets.sync.client import ClientConnection, connect

from forge.events import ProjectProgressed
from tests.support.api_server import House


@contextmanager
def listening(house: House, query: str = "", key: str | None = None, **options: Any) -> Iterator[ClientConnection]:
    headers = {"Authorization": f"Bearer {key}"} if key else house.bearer
    address = f"ws://127.0.0.1:{house.port}/api/stream{query}"
    with connect(address, additional_headers=headers, proxy=None, **{"max_queue": None, **options}) as socket:
        yield socket


def heard(socket: ClientConnection, seconds: float = 20) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(socket.recv(timeout=seconds))
    return result


def until_closed(socket: ClientConnection) -> None:
    while True:
        heard(socket)


def subscribe(socket: ClientConnection, topic: str, after: int = 0) -> dict[str, Any]:
    socket.send(json.dumps({"subscribe": topic, "after": after}))
    return heard(socket)


def tell(house: House, project: str, *texts: str) -> None:
    for text in texts:
        house.shop.events.append(f"project:{project}", ProjectProgressed(project, text))
