"""A server among the processes of a data directory: there is one, others find it, and it tells the board's topic."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import http.client
import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from forge.errors import Conflict, NotFound
from forge.git import StorageFailed
from forge.git.process import disk

FILE = "server.json"
_LOCK = "server.lock"
_PRIVATE = 0o600
_PATIENCE = 5.0


class ServerRunning(Conflict):
    """Another process serves this data directory."""

    code = "server_running"


class ServerMissing(NotFound):
    """No process serves this data directory."""

    code = "server_missing"


@dataclass(frozen=True, slots=True)
class Serving:
    """A server that runs. `secret` lets a process of the same person in; it is never shown."""

    pid: int
    host: str
    port: int
    secret: str = field(repr=False)
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What it was started with, by names; the values can be compared with, not read."""

    @property
    def url(self) -> str:
        """As a browser on this machine reaches it."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)  # noqa: S104 - read, not bound
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"


@contextmanager
def only_server(data_dir: Path) -> Iterator[None]:
    """For as long as this process serves. The kernel gives the lock back when it dies, however it does."""
    fd = _lock_file(data_dir)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as e:
            if e.errno not in (errno.EAGAIN, errno.EACCES):
                raise disk.storage_failed(e) from e
            raise ServerRunning(
                "Another process serves this data directory.", hint="Use that one, or set another FORGE_DATA_DIR."
            ) from e
        yield
    finally:
        os.close(fd)


def _lock_file(data_dir: Path) -> int:
    try:
        data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        return os.open(data_dir / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, _PRIVATE)
    except PermissionError as e:
        raise StorageFailed(
            f"The data directory {data_dir} may not be written.",
            hint="Check who owns it, or set another FORGE_DATA_DIR.",
        ) from e
    except OSError as e:
        raise disk.storage_failed(e) from e


@contextmanager
def announced(data_dir: Path, here: Serving) -> Iterator[None]:
    """Others find this server from now on; not any more when it ends. Only who holds the lock may do it."""
    _write(data_dir, here)
    try:
        yield
    finally:
        with suppress(FileNotFoundError):
            (data_dir / FILE).unlink()


def describe(data_dir: Path, here: Serving, settings: Mapping[str, str]) -> None:
    """Let commands see with what settings the server works. Only the server itself does it, and not once it ends."""
    if named_server(data_dir) == here:
        _write(data_dir, replace(here, settings=settings))


def _write(data_dir: Path, here: Serving) -> None:
    with disk.reporting():
        disk.replace_synced(data_dir / FILE, json.dumps(asdict(here)).encode(), mode=_PRIVATE)


def named_server(data_dir: Path) -> Serving | None:
    """The server that has announced itself here. Whether it is still alive is for the caller to find out."""
    try:
        found = Serving(**json.loads((data_dir / FILE).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
    return found if isinstance(found.pid, int) and isinstance(found.settings, dict) else None


def found_server(data_dir: Path) -> Serving:
    """The server of this data directory, if it is alive and answers."""
    found = named_server(data_dir)
    if found is None or not _answers(found):
        raise ServerMissing("No server runs on this data directory.", hint="`forge serve` starts one.")
    return found


def add_repository(server: Serving, place: Path) -> str | None:
    """Have the server manage the repository at or above `place`; its id, None where there is none."""
    told = _asked(server, "POST", "/api/repositories", {"path": str(place)}, timeout=_PATIENCE)
    id_ = told.get("id") if told is not None else None
    return id_ if isinstance(id_, str) else None


async def until_found(data_dir: Path) -> Serving:
    """Whoever holds the lock may still be starting: wait for it a little."""
    deadline = asyncio.get_running_loop().time() + _PATIENCE
    while True:
        try:
            return await asyncio.to_thread(found_server, data_dir)
        except ServerMissing:
            if asyncio.get_running_loop().time() > deadline:
                raise ServerRunning(
                    "A server has locked this data directory and does not answer.",
                    hint=f"Look for its process in {data_dir / FILE}; stop it and start again.",
                ) from None
            await asyncio.sleep(0.1)


def _answers(server: Serving) -> bool:
    """Asked by its process number too: another program may have the port by now."""
    told = _asked(server, "GET", "/api/health")
    return told is not None and told.get("pid") == server.pid


def refuses_connections(server: Serving) -> bool:
    """Whether nobody listens at its address: it has ended. One that is slow takes connections still."""
    address = urlsplit(server.url)
    try:
        socket.create_connection((address.hostname or "", address.port or 0), timeout=2.0).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False


def _asked(
    server: Serving, method: str, path: str, body: object = None, *, timeout: float = 2.0
) -> dict[str, Any] | None:
    """What it answers, for a process of the same person; None for anything but a good answer."""
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=timeout)
    headers = {"Content-Type": "application/json"}
    if body is not None:  # whoever has the port now is not shown the secret for nothing
        headers["Authorization"] = f"Bearer {server.secret}"
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        told = json.loads(response.read())
    except (OSError, ValueError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return told if response.status < 300 and isinstance(told, dict) else None
