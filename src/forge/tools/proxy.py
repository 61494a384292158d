"""Answers the calls of a tool that runs in the sandbox: on the real VFS, by the rules of the built-in tools.

Whoever speaks on the other end is not trusted: sizes, counts, types and order are checked here.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from forge.errors import Denied, ForgeError, NotFound
from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.tools.places import existing, refuse_internal, spelled, writable
from forge.tools.tool import ToolFailed, ToolRetry

READY = b"\x06"
_LOOK_EVERY = 0.05
_PATIENCE = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What one call of a tool may ask of Forge."""

    calls: int = 20_000
    message_bytes: int = 16 << 20
    total_bytes: int = 128 << 20
    """Of all messages, in both directions."""


class Broken(Exception):
    """The other end does not keep to the protocol or its bounds."""


class Proxy:
    """Serves one connection on `listener` in a thread of its own, until the other end is gone."""

    def __init__(self, listener: socket.socket, vfs: WorkInProgressVFS | None, bounds: Bounds) -> None:
        self.said: Json | None = None
        """The last message: `done` with the tool's value, or `failed` with its error."""
        self.trouble: str = ""
        """Why the conversation counts for nothing."""
        self._listener = listener
        self._vfs = vfs
        self._bounds = bounds
        self._over = threading.Event()
        self._calls = 0
        self._bytes = 0
        self._stream: socket.socket | None = None
        self._thread = threading.Thread(target=self._serve, name="forge-tool", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        """Nobody speaks any more: take in what is left and end."""
        self._over.set()
        self._thread.join(_PATIENCE)
        if self._thread.is_alive() and self._stream is not None:
            with contextlib.suppress(OSError):
                self._stream.shutdown(socket.SHUT_RDWR)
        self._thread.join()

    def _serve(self) -> None:
        try:
            with self._listener:
                self._stream = self._accepted()
            if self._stream is not None:
                with self._stream:
                    # The tool begins only now, when nobody can connect any more.
                    self._stream.sendall(READY)
                    self._converse(self._stream)
        except Broken as e:
            self.trouble = str(e)
        except OSError as e:
            self.trouble = f"the connection broke ({type(e).__name__})"
        except Exception as e:  # noqa: BLE001 - a thread has nobody above it; the call fails with this
            self.trouble = f"internal error ({type(e).__name__})"

    def _accepted(self) -> socket.socket | None:
        """The only connection there will be."""
        self._listener.settimeout(_LOOK_EVERY)
        while True:
            over = self._over.is_set()
            try:
                stream, _ = self._listener.accept()
            except TimeoutError:
                if over:
                    return None
                continue
            stream.settimeout(None)
            return stream

    def _converse(self, stream: socket.socket) -> None:
        while (message := self._received(stream)) is not None:
            if self.said is not None:
                raise Broken("it went on speaking after its result")
            if "call" not in message:
                self._take_result(message)
                continue
            if self._over.is_set():
                raise Broken("it ended in the middle of a call")
            self._calls += 1
            if self._calls > self._bounds.calls:
                raise Broken(f"it made more than {self._bounds.calls:,} calls")
            self._answer(stream, message)

    def _take_result(self, message: Json) -> None:
        if message.keys() not in ({"done"}, {"failed"}) or not isinstance(message.get("failed", ""), str):
            raise Broken("it sent a message that means nothing")
        self.said = message

    def _answer(self, stream: socket.socket, message: Json) -> None:
        try:
            answer: Json = {"value": self._performed(message)}
        except (ToolRetry, ToolFailed) as e:
            answer = {"error": str(e), "kind": "missing" if isinstance(e, ToolRetry) else "denied"}
        except ForgeError as e:
            kind = "missing" if isinstance(e, NotFound) else "denied" if isinstance(e, Denied) else "invalid"
            answer = {"error": f"{e.message} {e.hint}".strip(), "kind": kind}
        data = json.dumps(answer).encode()
        self._count(len(data))
        stream.sendall(struct.pack(">I", len(data)) + data)

    def _performed(self, message: Json) -> Any:
        vfs = self._vfs
        if vfs is None:
            raise ToolFailed("get_schema() has no files.")
        name = message["call"]
        if not isinstance(name, str) or name not in _CALLS:
            raise Broken("it made a call that does not exist")
        perform, wanted = _CALLS[name]
        values = {key: value for key, value in message.items() if key != "call"}
        if values.keys() != set(wanted) or not all(isinstance(value, str) for value in values.values()):
            raise ToolFailed(f"{name} takes text: {', '.join(wanted)}.")
        return perform(vfs, *(values[key] for key in wanted))

    def _received(self, stream: socket.socket) -> Json | None:
        head = _exactly(stream, 4)
        if head is None:
            return None
        (size,) = struct.unpack(">I", head)
        if size > self._bounds.message_bytes:
            raise Broken(f"it sent a message of {size:,} bytes")
        self._count(size)
        data = _exactly(stream, size)
        if data is None:
            return None
        try:
            message = json.loads(data)
        except (ValueError, RecursionError) as e:
            raise Broken("it sent what is no JSON") from e
        if not isinstance(message, dict):
            raise Broken("it sent a message that means nothing")
        return message

    def _count(self, size: int) -> None:
        self._bytes += size
        if self._bytes > self._bounds.total_bytes:
            raise Broken(f"it moved more than {self._bounds.total_bytes:,} bytes")


def _exactly(stream: socket.socket, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        piece = stream.recv(min(size - len(data), 1 << 20))
        if not piece:
            return None
        data += piece
    return bytes(data)


def _read_file(vfs: WorkInProgressVFS, path: str) -> str:
    return vfs.read_file(existing(vfs, path))


def _read_bytes(vfs: WorkInProgressVFS, path: str) -> str:
    return base64.b64encode(vfs.read_bytes(existing(vfs, path))).decode()


def _write_file(vfs: WorkInProgressVFS, path: str, content: str) -> None:
    vfs.write_file(writable(vfs, path), content)


def _write_bytes(vfs: WorkInProgressVFS, path: str, content: str) -> None:
    try:
        data = base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError) as e:
        raise ToolFailed("write_bytes takes base64.") from e
    vfs.write_bytes(writable(vfs, path), data)


def _delete_file(vfs: WorkInProgressVFS, path: str) -> None:
    plain = existing(vfs, path)
    refuse_internal(plain)
    vfs.delete_file(plain)


def _rename_file(vfs: WorkInProgressVFS, path: str, new_path: str) -> None:
    old = existing(vfs, path)
    refuse_internal(old)
    vfs.rename_file(old, writable(vfs, new_path))


def _list_files(vfs: WorkInProgressVFS, path: str) -> list[str]:
    return vfs.list_files(path)


def _file_exists(vfs: WorkInProgressVFS, path: str) -> bool:
    return vfs.file_exists(path)


def _mode(vfs: WorkInProgressVFS, path: str) -> int:
    return vfs.mode(spelled(vfs, path))


_CALLS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "read_file": (_read_file, ("path",)),
    "read_bytes": (_read_bytes, ("path",)),
    "write_file": (_write_file, ("path", "content")),
    "write_bytes": (_write_bytes, ("path", "content")),
    "delete_file": (_delete_file, ("path",)),
    "rename_file": (_rename_file, ("path", "new_path")),
    "list_files": (_list_files, ("path",)),
    "file_exists": (_file_exists, ("path",)),
    "mode": (_mode, ("path",)),
}
