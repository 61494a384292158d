"""How requests are received: within limits of size, number and time that hold before anybody has signed in."""

from __future__ import annotations

import asyncio
from typing import Any

from httptools import HttpParserError
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from forge.api.access.connections import KEY, Connection, Connections
from forge.api.http.problems import problem

_BETWEEN = 4  # ": " and the end of the line


class GuardedHttp(HttpToolsProtocol):
    """Ends a connection whose request is too large or too slow. Bodies of people who are signed in may take longer."""

    def __init__(self, *, connections: Connections, **given: Any) -> None:
        super().__init__(**given)
        self._guard = connections
        self._limits = connections.limits
        self._connection: Connection | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._head = 0
        self._in_head = True
        self._unheard = 0
        self._refusal: tuple[int, str, str, str] | None = None

    # Connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        connection = Connection(self._guard, address, drop=transport.abort, known=self._become_known)
        if not self._guard.add(connection):
            self._refuse(503, "too_many_connections", "The server has no room for another connection.", "Try again.")
            return
        self._connection = connection
        self.app_state = {**self.app_state, KEY: connection}
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        if self._connection is not None:
            self._connection.leave()
        super().connection_lost(exc)

    # Time

    def _wait(self) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(self._limits.seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        if self.flow.read_paused:
            self._wait()  # the server reads no further before an earlier request is answered
        elif self._in_head or not self.cycle.response_started:
            self._refuse(408, "request_too_slow", "The request did not come to its end in time.", "Send it again.")
        else:
            self.transport.abort()  # answered already, and the rest of the body is of no use

    def _become_known(self) -> None:
        if not self._in_head:
            self._stop_waiting()

    # Size

    def data_received(self, data: bytes) -> None:
        if self._refusal is not None:
            return
        self._unheard += len(data)
        super().data_received(data)
        if self._unheard > self._limits.head_bytes and self._refusal is None and not self.transport.is_closing():
            # One header or chunk line without an end, which the parser keeps to itself.
            self._refuse(*self._too_large())

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._head = 0
        self._in_head = True
        self._hear()
        self._wait()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Of trailers after a body, too."""
        super().on_header(name, value)
        self._count(len(name) + len(value) + _BETWEEN)

    def on_headers_complete(self) -> None:
        self._hear()
        self._in_head = False
        super().on_headers_complete()
        if self._connection is not None and self._connection.is_known:
            self._stop_waiting()

    def on_body(self, body: bytes) -> None:
        self._hear()
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._hear()
        self._stop_waiting()
        if self._connection is not None:
            self._connection.is_waiting = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        if self._connection is not None:
            self._connection.is_waiting = False
        super().on_response_complete()

    def _hear(self) -> None:
        self._unheard = 0

    def _count(self, size: int) -> None:
        self._hear()
        self._head += size
        if self._head > self._limits.head_bytes or len(self.headers) > self._limits.headers:
            self._refusal = self._too_large()
            raise HttpParserError(self._refusal[1])

    def _too_large(self) -> tuple[int, str, str, str]:
        limits = self._limits
        told = f"The limit is {limits.headers} headers and {limits.head_bytes} bytes."
        return (431, "headers_too_large", told, "Send fewer and shorter headers.")

    # Answers without an application

    def send_400_response(self, msg: str) -> None:
        if self._refusal is not None:
            self._answer(*self._refusal)
            return
        super().send_400_response(msg)

    def _refuse(self, status: int, code: str, detail: str, hint: str) -> None:
        self._refusal = (status, code, detail, hint)
        self._answer(status, code, detail, hint)

    def _answer(self, status: int, code: str, detail: str, hint: str) -> None:
        self._stop_waiting()
        if not self.transport.is_closing():
            told = problem(status, code, detail, hint, headers={"connection": "close"})
            lines = [name + b": " + value + b"\r\n" for name, value in told.raw_headers]
            self.transport.write(b"".join([STATUS_LINE[status], *lines, b"\r\n", bytes(told.body)]))
            self.transport.close()


class GuardedSocket(WebSocketsSansIOProtocol):
    """A WebSocket takes the place of the request that asked for it."""

    def connection_lost(self, exc: Exception | None) -> None:
        connection = self.app_state.get(KEY)
        if isinstance(connection, Connection):
            connection.leave()
        super().connection_lost(exc)
