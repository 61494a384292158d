"""The way out for a setup: an HTTP proxy on a unix socket that leads to named hosts alone and lists what it refused."""

from __future__ import annotations

import contextlib
import http.client
import select
import socket
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from forge.sandbox.tls_hello import greeting_size, server_name
from forge.sandbox.unix_http import CHUNK, UNREACHABLE, RelayHandler, UnixServer

_AT_ONCE = 64
_CONNECT_SECONDS = 20
_IDLE_SECONDS = 120
_HELLO_SECONDS = 20
_MOST_REFUSED = 100
_PORTS = (80, 443)


class HostProxy:
    """Serves `socket`. An entry of `allowed` is a host (its ports 80 and 443) or `host:port`."""

    def __init__(self, allowed: Sequence[str], directory: Path, environ: Mapping[str, str]) -> None:
        self.allowed = frozenset(map(normal_host, allowed))
        self.socket = directory / "hosts"
        self.slots = threading.BoundedSemaphore(_AT_ONCE)
        self._refused: dict[str, None] = {}
        self._unreachable: dict[str, None] = {}
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._proxies = _proxies(environ)
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="host-proxy", daemon=True)

    @property
    def refused(self) -> tuple[str, ...]:
        """Hosts that the command asked for and did not get, in the order in which it asked."""
        with self._lock:
            return tuple(self._refused)

    @property
    def unreachable(self) -> tuple[str, ...]:
        """Allowed hosts that did not answer."""
        with self._lock:
            return tuple(self._unreachable)

    def lose(self, host: str) -> None:
        with self._lock:
            self._unreachable[normal_host(host)] = None

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        with self._lock:
            left = tuple(self._open)
        for each in left:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def allows(self, host: str, port: int) -> bool:
        name = normal_host(host)
        return (port in _PORTS and name in self.allowed) or f"{name}:{port}" in self.allowed

    def refuse(self, host: str, port: int) -> None:
        name = normal_host(host)
        with self._lock:
            if len(self._refused) < _MOST_REFUSED:
                self._refused[name if port in _PORTS else f"{name}:{port}"] = None

    @contextmanager
    def connection(self, host: str, port: int, *, tunnel: bool) -> Iterator[socket.socket]:
        """A connection to the host, through the person's own proxy where they have one."""
        through = self._proxy_for(host, tunnel=tunnel)
        with socket.create_connection(through or (host, port), timeout=_CONNECT_SECONDS) as outer:
            if through and tunnel:
                _ask_tunnel(outer, host, port)
            with self._lock:
                self._open.add(outer)
            try:
                outer.settimeout(_IDLE_SECONDS)
                yield outer
            finally:
                with self._lock:
                    self._open.discard(outer)

    def is_proxied(self, host: str) -> bool:
        return self._proxy_for(host, tunnel=False) is not None

    def _proxy_for(self, host: str, *, tunnel: bool) -> tuple[str, int] | None:
        address = self._proxies.get("https" if tunnel else "http", "")
        if not address or _is_direct(host, self._proxies.get("no", "")):
            return None
        parts = urlsplit(address if "//" in address else f"http://{address}")
        return (parts.hostname or "", parts.port or 80) if parts.hostname else None


def normal_host(host: str) -> str:
    return host.strip().lower().rstrip(".")


@contextmanager
def serving(allowed: Sequence[str], environ: Mapping[str, str]) -> Iterator[HostProxy]:
    """A proxy to the allowed hosts until the block ends. Of `environ`, it takes the person's own proxy."""
    with tempfile.TemporaryDirectory(prefix="forge-hosts-") as directory:
        proxy = HostProxy(allowed, Path(directory), environ)
        proxy.start()
        try:
            yield proxy
        finally:
            proxy.close()


def _proxies(environ: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in environ.items():
        if name.lower().endswith("_proxy") and value:
            found.setdefault(name.lower().removesuffix("_proxy"), value)
    return found


def _is_direct(host: str, exceptions: str) -> bool:
    """Whether the person's `no_proxy` names the host."""
    names = [normal_host(each).partition(":")[0].lstrip(".") for each in exceptions.split(",") if each.strip()]
    return "*" in names or any(normal_host(host) == name or normal_host(host).endswith(f".{name}") for name in names)


def _ask_tunnel(outer: socket.socket, host: str, port: int) -> None:
    outer.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    answer = bytearray()
    while not answer.endswith(b"\r\n\r\n"):
        piece = outer.recv(1)
        if not piece or len(answer) > CHUNK:
            raise ConnectionError("the proxy of this machine hung up")
        answer += piece
    if answer.split(b" ", 2)[1:2] != [b"200"]:
        raise ConnectionError(f"the proxy of this machine said {bytes(answer[:80])!r}")


class _Server(UnixServer):
    def __init__(self, proxy: HostProxy) -> None:
        self.proxy = proxy
        super().__init__(proxy.socket, _Handler)


class _Handler(RelayHandler):
    server: _Server

    def do_CONNECT(self) -> None:  # noqa: N802 - the name that the library calls
        host, _, port = self.path.rpartition(":")
        host = host.strip("[]")
        if not host or not port.isdigit():
            self.refuse(400, "Name a host and a port.")
            return
        if not self._allowed(host, int(port)):
            return
        proxy = self.server.proxy
        with proxy.slots:
            try:
                with proxy.connection(host, int(port), tunnel=True) as outer:
                    self.send_response_only(200, "Connection established")
                    self.end_headers()
                    self._tunnel(host, int(port), outer)
            except OSError as e:
                proxy.lose(host)
                self.refuse(UNREACHABLE, f"{host} cannot be reached: {e}")

    def _tunnel(self, host: str, port: int, outer: socket.socket) -> None:
        """A tunnel that greets another name would reach another host behind the same address."""
        self.connection.settimeout(_HELLO_SECONDS)
        hello = self.connection.recv(CHUNK)
        while len(hello) < greeting_size(hello) and (more := self.connection.recv(CHUNK)):
            hello += more
        name = server_name(hello)
        if name is not None and normal_host(name) != normal_host(host):
            self.server.proxy.refuse(name or "(a greeting without a readable name)", port)
            return
        outer.sendall(hello)
        _pump(self.connection, outer)

    def _pass_on(self) -> None:
        parts = urlsplit(self.path)
        try:
            host, port = parts.hostname or "", parts.port or 80
        except ValueError:
            host, port = "", 0
        if parts.scheme != "http" or not host:
            self.refuse(400, "This proxy takes whole addresses.")
            return
        if not self._allowed(host, port):
            return
        body = self.body()
        if body is None:
            self.refuse(413, "The request is too large.")
            return
        proxy = self.server.proxy
        with proxy.slots:
            try:
                with proxy.connection(host, port, tunnel=False) as outer:
                    path = parts._replace(scheme="", netloc="").geturl() or "/"
                    upstream = http.client.HTTPConnection(host, port)
                    upstream.sock = outer
                    self.send_upstream(upstream, self.path if proxy.is_proxied(host) else path, body)
                    self.give_back(upstream.getresponse())
            except (OSError, http.client.HTTPException) as e:
                proxy.lose(host)
                self.refuse(UNREACHABLE, f"{host} cannot be reached: {e}")

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _pass_on  # noqa: N815

    def _allowed(self, host: str, port: int) -> bool:
        if self.server.proxy.allows(host, port):
            return True
        self.server.proxy.refuse(host, port)
        self.refuse(403, f"{host}:{port} was not approved for this setup.")
        return False


def _pump(inner: socket.socket, outer: socket.socket) -> None:
    ends = {inner: outer, outer: inner}
    for end in ends:
        end.settimeout(None)
    while ends:
        ready, _, _ = select.select([*ends], [], [], _IDLE_SECONDS)
        if not ready:
            return
        for end in ready:
            other = inner if end is outer else outer
            with contextlib.suppress(OSError):
                if data := end.recv(CHUNK):
                    other.sendall(data)
                    continue
            with contextlib.suppress(OSError):
                other.shutdown(socket.SHUT_WR)
            ends.pop(end, None)
