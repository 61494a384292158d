"""HTTP on a unix socket, for proxies that serve a confined command: one request for each connection, bounded bodies."""

from __future__ import annotations

import http.client
import json
import socketserver
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

OWN_HEADERS = (
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade", "host", "content-length", "expect", "accept-encoding",
)  # fmt: skip
"""Headers that belong to one connection: a proxy writes its own."""
CHUNK = 65536
UNREACHABLE = 502
_LARGEST_REQUEST = 64 << 20
_REQUEST_SECONDS = 60


class UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, socket: Path, handler: type[RelayHandler]) -> None:
        super().__init__(str(socket), handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A program that hangs up is its own affair."""


class RelayHandler(BaseHTTPRequestHandler):
    """Reads requests and passes answers on; where a request goes is up to its subclasses."""

    protocol_version = "HTTP/1.1"
    timeout = _REQUEST_SECONDS

    def handle_one_request(self) -> None:
        # One request for each connection: a waiting one would hold its thread.
        super().handle_one_request()
        self.close_connection = True

    def body(self) -> bytes | None:
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

    def send_upstream(
        self,
        connection: http.client.HTTPConnection,
        path: str,
        body: bytes,
        header: Callable[[str, str], str] = lambda _, value: value,
    ) -> None:
        """Repeat the request on `connection`; `header` gives the value of each header."""
        connection.putrequest(self.command, path, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in OWN_HEADERS:
                connection.putheader(name, header(name, value))
        connection.putheader("Connection", "close")
        if body or self.command in ("POST", "PUT", "PATCH"):
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body or None)

    def give_back(self, answer: http.client.HTTPResponse, hear: Callable[[bytes], None] = lambda _: None) -> None:
        """Pass the answer on as it comes; `hear` gets each piece first."""
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in OWN_HEADERS:
                self.send_header(name, value)
        self.send_header("Connection", "close")
        chunked = answer.length is None
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(answer.length))
        self.end_headers()
        if self.command == "HEAD":
            return
        while data := answer.read1(CHUNK):
            hear(data)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if chunked else data)
        if chunked:
            self.wfile.write(b"0\r\n\r\n")

    def refuse(self, status: int, reason: str) -> None:
        body = json.dumps({"error": {"type": "forge", "message": reason}}).encode()
        self.send_response_only(status, reason if reason.isascii() and "\n" not in reason else None)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing is printed here."""
