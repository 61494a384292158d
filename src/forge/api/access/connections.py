"""The connections of one server: how many there may be, and which give way when there are more.

A connection is a stranger's until a request on it was signed in. Strangers are limited by their address, and the oldest
of them give way to a new one: whoever means it has asked for something long before. New ones have a second for that, so
many clients of one machine may connect at once. Who has asked waits for the server, and gives way to nobody meanwhile.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Any

from starlette.types import Scope

KEY = "forge.connection"
"""Where a request finds its connection, in the state of its scope."""
_OTHER_FILES = 256
"""Descriptors that the server needs for all else: databases, repositories, the programs that it starts."""
_FEWEST = 64
_TIME_TO_ASK = 1.0
"""Seconds in which a new connection gives way only where there is no room at all."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Of a request, until all of it was received; and of connections, in all and by strangers at one address."""

    head_bytes: int
    headers: int
    seconds: float
    connections: int
    per_address: int


class Connection:
    """One of them. `drop` ends it without a word; `known` is called when a request on it was signed in."""

    def __init__(
        self, connections: Connections, address: str, *, drop: Callable[[], None], known: Callable[[], None]
    ) -> None:
        self._connections = connections
        self._known = known
        self.address = _network(address)
        self.drop = drop
        self.is_known = False
        self.is_waiting = False
        """A whole request has come, and is not answered yet."""
        self.came = time.monotonic()

    def leave(self) -> None:
        self._connections.remove(self)

    def sign_in(self) -> None:
        if not self.is_known:
            self.is_known = True
            self._connections.recognise(self)
            self._known()


class Connections:
    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        room = limits.connections if soft == resource.RLIM_INFINITY else max(_FEWEST, soft - _OTHER_FILES)
        self._most = min(limits.connections, room)
        self._all: set[Connection] = set()
        # In the order in which they came.
        self._strangers: dict[Connection, None] = {}
        self._at: dict[str, dict[Connection, None]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def add(self, connection: Connection) -> bool:
        """Whether there is room for it: a stranger who came earlier gives way, somebody who is signed in does not."""
        here = self._at.get(connection.address, {})
        while len(here) >= self.limits.per_address and (slow := next(filter(self._is_slow, here), None)):
            self._evict(slow)
        if len(self._all) >= self._most:
            if not self._strangers:
                return False
            self._evict(next(iter(self._strangers)))
        self._all.add(connection)
        self._strangers[connection] = self._at.setdefault(connection.address, {})[connection] = None
        return True

    def recognise(self, connection: Connection) -> None:
        self._strangers.pop(connection, None)
        here = self._at.get(connection.address)
        if here is not None:
            here.pop(connection, None)
            if not here:
                del self._at[connection.address]

    def remove(self, connection: Connection) -> None:
        self._all.discard(connection)
        self.recognise(connection)

    def _is_slow(self, connection: Connection) -> bool:
        return not connection.is_waiting and time.monotonic() - connection.came >= _TIME_TO_ASK

    def _evict(self, connection: Connection) -> None:
        self.remove(connection)
        connection.drop()


def signed_in(scope: Scope) -> None:
    """The connection of this request is no stranger's any more."""
    connection: Any = scope.get("state", {}).get(KEY)
    if connection is not None:
        connection.sign_in()


def _network(address: str) -> str:
    """Whoever has one IPv6 address has 2⁶⁴ of them."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    return str(int(found) >> 64) if isinstance(found, IPv6Address) and found.ipv4_mapped is None else address
