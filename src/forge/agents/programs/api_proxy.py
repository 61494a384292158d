"""The one way out for a confined program: an HTTP proxy on a unix socket that leads to its model API alone.

The program knows a placeholder in the place of the key; the key itself is put in here, outside the sandbox.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from forge.agents.programs.told_tokens import ToldTokens
from forge.errors import InvalidInput
from forge.sandbox.unix_http import UNREACHABLE, RelayHandler, UnixServer
from forge.sessions.messages import Usage

PLACEHOLDER = "forge-keeps-the-key"
"""What programs get as their key."""

_KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
_AT_ONCE = 32
_UPSTREAM_SECONDS = 600

Heard = Callable[[int], None]


class ApiProxy:
    """Serves `socket`; every request goes to `upstream` and nowhere else."""

    def __init__(self, upstream: str, key: str, directory: Path, heard: Heard) -> None:
        self.upstream = _checked(upstream)
        self.key = key
        self.heard = heard
        self.requests = 0
        """All that passed, to whatever address of the API."""
        self.usage = Usage()
        """Of requests to a model: how many, and the tokens that their answers told of."""
        self.socket = directory / "api"
        self.slots = threading.BoundedSemaphore(_AT_ONCE)
        self._open: set[http.client.HTTPConnection] = set()
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="api-proxy", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Stop listening and break off what is under way, so that no one pays for an answer that nobody hears."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        with self._lock:
            connections = tuple(self._open)
        for connection in connections:
            _cut(connection)

    @contextmanager
    def connection(self) -> Iterator[http.client.HTTPConnection]:
        """A connection to the upstream for one request."""
        host, port = self.upstream.hostname or "", self.upstream.port
        connection: http.client.HTTPConnection
        if self.upstream.scheme == "https":
            context = ssl.create_default_context()
            connection = http.client.HTTPSConnection(host, port, timeout=_UPSTREAM_SECONDS, context=context)
        else:
            connection = http.client.HTTPConnection(host, port, timeout=_UPSTREAM_SECONDS)
        with self._lock:
            self.requests += 1
            self._open.add(connection)
        try:
            yield connection
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()

    def count(self, usage: Usage) -> None:
        with self._lock:
            self.usage += usage


@contextmanager
def serving(upstream: str, key: str, heard: Heard = lambda _: None) -> Iterator[ApiProxy]:
    """A proxy to `upstream` until the block ends. `heard` is told of all that passes: a status, or 0 for a piece."""
    with tempfile.TemporaryDirectory(prefix="forge-api-") as directory:
        proxy = ApiProxy(upstream, key, Path(directory), heard)
        proxy.start()
        try:
            yield proxy
        finally:
            proxy.close()


def _checked(upstream: str) -> SplitResult:
    parts = urlsplit(upstream)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
        raise InvalidInput(f"{upstream} cannot be a model API.", hint="Give it like https://api.example.com/v1.")
    return parts


def _cut(connection: http.client.HTTPConnection) -> None:
    if connection.sock is not None:
        with contextlib.suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)


class _Server(UnixServer):
    def __init__(self, proxy: ApiProxy) -> None:
        self.proxy = proxy
        super().__init__(proxy.socket, _Handler)


class _Handler(RelayHandler):
    server: _Server

    def _pass_on(self) -> None:
        if not self.path.startswith("/") or ".." in unquote(self.path.partition("?")[0]).split("/"):
            self.refuse(400, "That is no path of the model API.")
            return
        body = self.body()
        if body is None:
            self.refuse(413, "The request is too large.")
            return
        proxy = self.server.proxy
        proxy.heard(0)
        with proxy.slots, proxy.connection() as connection:
            try:
                connection.connect()
                if self.command == "POST" and "count" not in self.path.lower():
                    proxy.count(Usage(requests=1))
                self.send_upstream(connection, proxy.upstream.path.rstrip("/") + self.path, body, self._with_key)
                answer = connection.getresponse()
            except (OSError, http.client.HTTPException) as e:
                proxy.heard(UNREACHABLE)
                self.refuse(UNREACHABLE, f"The model API cannot be reached: {e}")
                return
            proxy.heard(answer.status)
            self._give_back(answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _pass_on  # noqa: N815

    def _with_key(self, name: str, value: str) -> str:
        with_key = name.lower() in _KEY_HEADERS and PLACEHOLDER in value
        return value.replace(PLACEHOLDER, self.server.proxy.key) if with_key else value

    def _give_back(self, answer: http.client.HTTPResponse) -> None:
        told = ToldTokens()

        def hear(data: bytes) -> None:
            self.server.proxy.heard(0)
            told.hear(data)

        try:
            self.give_back(answer, hear)
        finally:
            self.server.proxy.count(told.usage())
