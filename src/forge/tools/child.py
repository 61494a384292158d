"""Runs inside the sandbox, alone with the standard library: loads a tool from memory and calls it with a VFS by socket.

The request comes on standard input; calls and the result go over the socket, so that what a tool prints disturbs
nothing. Forge believes none of it: every message is checked there.
"""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder

MYPY = False  # typing is slow to load, and nothing here needs it when it runs
if MYPY:
    from types import ModuleType
    from typing import Any

SOCKET = "vfs"
_ERRORS = {"missing": FileNotFoundError, "denied": PermissionError, "invalid": ValueError}


class VFS:
    """The files of the branch, as far as a tool may reach them. Writes count only if the tool returns."""

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream

    def _ask(self, call: str, **values: object) -> Any:
        _send(self._stream, {"call": call, **values})
        answer = _receive(self._stream)
        if "error" in answer:
            raise _ERRORS.get(answer["kind"], OSError)(answer["error"])
        return answer["value"]

    def read_file(self, path: str) -> str:
        return str(self._ask("read_file", path=path))

    def read_bytes(self, path: str) -> bytes:
        return base64.b64decode(self._ask("read_bytes", path=path))

    def write_file(self, path: str, content: str) -> None:
        self._ask("write_file", path=path, content=content)

    def write_bytes(self, path: str, data: bytes) -> None:
        self._ask("write_bytes", path=path, content=base64.b64encode(data).decode())

    def delete_file(self, path: str) -> None:
        self._ask("delete_file", path=path)

    def rename_file(self, old: str, new: str) -> None:
        self._ask("rename_file", path=old, new_path=new)

    def list_files(self, prefix: str = "") -> list[str]:
        return list(self._ask("list_files", path=prefix))

    def file_exists(self, path: str) -> bool:
        return bool(self._ask("file_exists", path=path))

    def mode(self, path: str) -> int:
        return int(self._ask("mode", path=path))


class Repository:
    """Imports of approved modules: after the standard library, before packages of the layer. Nothing else of the
    repository can be imported.
    """

    def __init__(self, modules: dict[str, str], sources: dict[str, str]) -> None:
        self._modules = modules
        self._sources = sources
        self._standard = [*sys.path]

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        loader: Any = self
        if PathFinder.find_spec(name.partition(".")[0], self._standard) is not None:
            return None
        if name in self._modules:
            file = self._modules[name]
            return ModuleSpec(name, loader, origin=file, is_package=file.endswith("/__init__.py"))
        if any(module.startswith(name + ".") for module in self._modules):
            return ModuleSpec(name, None, is_package=True)
        return None

    def create_module(self, _spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        file = module.__spec__.origin if module.__spec__ else None
        assert file is not None
        exec(compile(base64.b64decode(self._sources[file]), file, "exec"), module.__dict__)  # noqa: S102


def _send(stream: socket.socket, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode()
    stream.sendall(struct.pack(">I", len(data)) + data)


def _receive(stream: socket.socket) -> dict[str, Any]:
    (size,) = struct.unpack(">I", _exactly(stream, 4))
    message: dict[str, Any] = json.loads(_exactly(stream, size))
    return message


def _exactly(stream: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = stream.recv(min(size - len(data), 1 << 20))
        if not piece:
            raise ConnectionError("Forge has closed the connection")
        data += piece
    return bytes(data)


def _trouble(error: BaseException) -> str:
    """The error and where in the tool it came up."""
    where, trace = "", error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(("<", "/")):
            where = f" ({file}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return f"{type(error).__name__}: {error}"[:4000] + where


def main() -> None:
    request = json.loads(sys.stdin.buffer.read())
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    stream.connect(SOCKET)
    _exactly(stream, 1)
    finder: Any = Repository(request["modules"], request["sources"])
    sys.meta_path.insert(sys.meta_path.index(PathFinder), finder)
    sys.path += request["packages"]
    try:
        tool: Any = import_module(request["module"])
        value = tool.get_schema() if request["schema"] else tool.execute(VFS(stream), request["arguments"])
        message = {"done": value}
        json.dumps(message)
    except BaseException as error:  # noqa: BLE001 - sys.exit() in a tool is its failure too
        message = {"failed": _trouble(error)}
    _send(stream, message)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
