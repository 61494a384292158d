"""The proxy between a confined program and its model API: one way, one host, and the key stays outside."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from forge.agents.programs.api_proxy import PLACEHOLDER, ApiProxy, serving
from forge.errors import InvalidInput

pytestmark = pytest.mark.req("X-06")


class Upstream(BaseHTTPRequestHandler):
    """Echoes what it got; `/slow` sends three pieces with pauses, `/hang` nothing until it is hung up on."""

    protocol_version = "HTTP/1.1"
    hung_up = threading.Event()

    def do_POST(self) -> None:
        if "chunked" in self.headers.get("transfer-encoding", ""):
            self.send_error(411)
            return
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path.endswith("/slow"):
            self._slowly()
        elif self.path.endswith("/hang"):
            self.connection.recv(1)
            type(self).hung_up.set()
            self.close_connection = True
        elif self.path.endswith("/away"):
            self._answer(b"", 302, ("Location", "http://elsewhere.example/"))
        else:
            told = {"path": self.path, "headers": list(self.headers.items()), "body": body.decode()}
            self._answer(json.dumps(told).encode(), 200, ("X-Kept", "yes"))

    do_GET = do_POST  # noqa: N815

    def _answer(self, body: bytes, status: int, header: tuple[str, str]) -> None:
        self.send_response(status)
        self.send_header(*header)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _slowly(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in (b"one ", b"two ", b"three"):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
            time.sleep(0.3)
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def upstream() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    Upstream.hung_up.clear()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def proxy(upstream: str) -> Iterator[ApiProxy]:
    with serving(f"{upstream}/base", "the-real-key") as proxy:
        yield proxy


@contextmanager
def connected(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(10)
        client.connect(str(path))
        yield client


def ask(proxy: ApiProxy, request: str, body: bytes = b"") -> tuple[int, dict[str, str], bytes]:
    with connected(proxy.socket) as client:
        client.sendall(request.replace("\n", "\r\n").encode() + body)
        answer = http.client.HTTPResponse(client)
        answer.begin()
        return answer.status, dict(answer.getheaders()), answer.read()


def test_the_key_is_put_in_where_the_placeholder_stands_and_nowhere_else(proxy: ApiProxy) -> None:
    request = (
        f"POST /v1/messages?beta=true HTTP/1.1\nHost: localhost\nX-Api-Key: {PLACEHOLDER}\n"
        f"Authorization: Bearer {PLACEHOLDER}\nX-Other: {PLACEHOLDER}\nContent-Length: {len(PLACEHOLDER)}\n\n"
    )
    status, headers, body = ask(proxy, request, PLACEHOLDER.encode())
    told = json.loads(body)
    seen = {name.lower(): value for name, value in told["headers"]}
    assert (status, headers["X-Kept"], told["path"]) == (200, "yes", "/base/v1/messages?beta=true")
    assert (seen["x-api-key"], seen["authorization"]) == ("the-real-key", "Bearer the-real-key")
    assert seen["x-other"] == told["body"] == PLACEHOLDER
    assert seen["host"] in proxy.upstream.netloc
    assert set(seen) == {"host", "x-api-key", "authorization", "x-other", "connection", "content-length"}


def test_a_key_of_the_programs_own_passes_unchanged(proxy: ApiProxy) -> None:
    told = json.loads(ask(proxy, "GET /m HTTP/1.1\nHost: x\nX-Api-Key: mine\n\n")[2])
    assert dict(told["headers"])["X-Api-Key"] == "mine"


def test_answers_stream_through_as_they_come(proxy: ApiProxy) -> None:
    with connected(proxy.socket) as client:
        client.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = http.client.HTTPResponse(client)
        answer.begin()
        times, pieces = [], []
        while piece := answer.read1(1000):
            times.append(time.monotonic())
            pieces.append(piece)
    assert b"".join(pieces) == b"one two three"
    assert times[-1] - times[0] > 0.4


def test_bodies_in_chunks_arrive_whole(proxy: ApiProxy) -> None:
    request = "POST /m HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n"
    told = json.loads(ask(proxy, request, b"4\r\nhalf\r\n6;x=1\r\n other\r\n0\r\n\r\n")[2])
    assert told["body"] == "half other"


@pytest.mark.parametrize("path", ["http://elsewhere.example/", "/../secret", "/v1/%2e%2e/../x"])
def test_only_paths_of_the_api_are_passed_on(proxy: ApiProxy, path: str) -> None:
    assert ask(proxy, f"GET {path} HTTP/1.1\nHost: elsewhere.example\n\n")[0] == 400
    assert proxy.requests == 0


def test_no_tunnel_is_opened(proxy: ApiProxy) -> None:
    assert ask(proxy, "CONNECT elsewhere.example:443 HTTP/1.1\nHost: elsewhere.example\n\n")[0] == 501
    assert proxy.requests == 0


def test_a_redirect_is_handed_back_and_not_followed(proxy: ApiProxy) -> None:
    status, headers, _ = ask(proxy, "GET /away HTTP/1.1\nHost: x\n\n")
    assert (status, headers["Location"], proxy.requests) == (302, "http://elsewhere.example/", 1)


def test_an_api_that_is_away_is_told_as_bad_gateway() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with serving(f"http://127.0.0.1:{port}", "key-of-the-person") as proxy:
        status, _, body = ask(proxy, "GET /m HTTP/1.1\nHost: x\n\n")
    assert status == 502
    assert "cannot be reached" in json.loads(body)["error"]["message"]
    assert b"key-of-the-person" not in body


def test_requests_beyond_all_measure_are_refused(proxy: ApiProxy) -> None:
    assert ask(proxy, f"POST /m HTTP/1.1\nHost: x\nContent-Length: {1 << 40}\n\n")[0] == 413
    assert proxy.requests == 0


@pytest.mark.parametrize("junk", [b"\0\xff\r\n\r\n", b"GET\r\n\r\n", b"POST /m HTTP/1.1\r\nContent-Length: x\r\n\r\n"])
def test_junk_ends_its_connection_and_nothing_else(proxy: ApiProxy, junk: bytes) -> None:
    with connected(proxy.socket) as client:
        client.sendall(junk)
        client.shutdown(socket.SHUT_WR)
        while client.recv(1000):
            pass
    assert ask(proxy, "GET /m HTTP/1.1\nHost: x\n\n")[0] == 200


def test_closing_breaks_off_what_is_under_way(upstream: str) -> None:
    with serving(upstream, "key") as proxy:
        client = socket.socket(socket.AF_UNIX)
        client.connect(str(proxy.socket))
        client.sendall(b"GET /hang HTTP/1.1\r\nHost: x\r\n\r\n")
        deadline = time.monotonic() + 5
        while not proxy.requests and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.1)
        place = proxy.socket
    assert Upstream.hung_up.wait(5)
    client.close()
    assert not place.exists()


@pytest.mark.parametrize("address", ["", "ftp://x", "https://", "https://user:pw@x", "https://x?key=1", "/path"])
def test_addresses_that_are_no_api_are_refused(address: str) -> None:
    with pytest.raises(InvalidInput), serving(address, "key"):
        pass
