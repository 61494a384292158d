"""The one way out for a confined program: an HTTP proxy on a unix socket that leads to its model API alone.

The program knows a placeholder in the place of the key; the key itself is put in here, outside the sandbox.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import socketserver
import ssl
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from forge.agents.programs.told_tokens import ToldTokens
from forge.errors import InvalidInput
from forge.sessions.messages import Usage

PLACEHOLDER = "forge-keeps-the-key"
"""What programs get as their key."""

_KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key", "api-key")
_OWN_HEADERS = (
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade", "host", "content-length", "expect", "accept-encoding",
)  # fmt: skip
_CHUNK = 65536
_LARGEST_REQUEST = 64 << 20
_AT_ONCE = 32
_UPSTREAM_SECONDS = 600
_REQUEST_SECONDS = 60
_UNREACHABLE = 502

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
        """Stop listening and break off what is under way, so that nobody pays for an answer that nobody hears."""
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


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, proxy: ApiProxy) -> None:
        self.proxy = proxy
        super().__init__(str(proxy.socket), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A program that hangs up is its own affair."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _REQUEST_SECONDS
    server: _Server

    def handle_one_request(self) -> None:
        # One request for each connection: a waiting one would hold its thread.
        super().handle_one_request()
        self.close_connection = True

    def _pass_on(self) -> None:
        if not self.path.startswith("/") or ".." in unquote(self.path.partition("?")[0]).split("/"):
            self._refuse(400, "That is no path of the model API.")
            return
        body = self._body()
        if body is None:
            self._refuse(413, "The request is too large.")
            return
        proxy = self.server.proxy
        proxy.heard(0)
        with proxy.slots, proxy.connection() as connection:
            try:
                connection.connect()
                if self.command == "POST" and "count" not in self.path.lower():
                    proxy.count(Usage(requests=1))
                self._send(connection, body)
                answer = connection.getresponse()
            except (OSError, http.client.HTTPException) as e:
                proxy.heard(_UNREACHABLE)
                self._refuse(_UNREACHABLE, f"The model API cannot be reached: {e}")
                return
            proxy.heard(answer.status)
            self._give_back(answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _pass_on  # noqa: N815

    def _body(self) -> bytes | None:
        """The request's body; None when it is too large."""
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            return self._chunked_body()
        size = int(self.headers.get("content-length") or 0)
        return self.rfile.read(size) if 0 <= size <= _LARGEST_REQUEST else None

    def _chunked_body(self) -> bytes | None:
        body = bytearray()
        while size := int(self.rfile.readline(100).split(b";")[0], 16):
            if len(body) + size > _LARGEST_REQUEST:
                return None
            body += self.rfile.read(size)
            self.rfile.readline(100)
        while self.rfile.readline(1000).strip():
            pass
        return bytes(body)

    def _send(self, connection: http.client.HTTPConnection, body: bytes) -> None:
        proxy = self.server.proxy
        path = proxy.upstream.path.rstrip("/") + self.path
        connection.putrequest(self.command, path, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in _OWN_HEADERS:
                with_key = name.lower() in _KEY_HEADERS and PLACEHOLDER in value
                connection.putheader(name, value.replace(PLACEHOLDER, proxy.key) if with_key else value)
        connection.putheader("Connection", "close")
        if body or self.command in ("POST", "PUT", "PATCH"):
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body or None)

    def _give_back(self, answer: http.client.HTTPResponse) -> None:
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in _OWN_HEADERS:
                self.send_header(name, value)
        self.send_header("Connection", "close")
        if answer.length is not None:
            self.send_header("Content-Length", str(answer.length))
        else:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if self.command == "HEAD":
            return
        chunked = answer.length is None
        told = ToldTokens()
        try:
            while data := answer.read1(_CHUNK):
                self.server.proxy.heard(0)
                told.hear(data)
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if chunked else data)
        finally:
            self.server.proxy.count(told.usage())
        if chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _refuse(self, status: int, reason: str) -> None:
        body = json.dumps({"error": {"type": "forge", "message": reason}}).encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing is printed here."""
