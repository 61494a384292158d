"""Runs a tool of the repository in the sandbox: an own Python, no network, no files but through the VFS proxy."""

from __future__ import annotations

import base64
import json
import os
import socket
import tempfile
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.sandbox import OWN_PYTHON, CommandResult, Limits, run
from forge.tools.arguments import is_schema
from forge.tools.edits import restore, snapshot
from forge.tools.imports import FOLDER, Closure
from forge.tools.layer import NO_LAYER, ToolLayer
from forge.tools.proxy import Bounds, Proxy
from forge.tools.result_text import tail
from forge.tools.tool import ToolFailed

MIB = 1 << 20
TOOL_LIMITS = Limits(
    seconds=30,
    memory_bytes=512 * MIB,
    processes=32,
    output_bytes=64 * 1024,
    file_bytes=16 * MIB,
    # Counts all that fills the file system meanwhile, also by others: tight enough to stop a flood.
    disk_bytes=1024 * MIB,
    scratch_bytes=64 * MIB,
)
BOUNDS = Bounds()
_SOCKET = "vfs"
_PRINTED_BYTES = 2_000
_SCHEMA_BYTES = 20_000


def call(
    vfs: WorkInProgressVFS,
    sources: Closure,
    arguments: Json,
    *,
    limits: Limits = TOOL_LIMITS,
    bounds: Bounds | None = None,
    cancel: threading.Event | None = None,
    layer: ToolLayer = NO_LAYER,
) -> str | Json:
    """`execute(vfs, arguments)` of the tool. Its writes stay only if it returns; else nothing changes.

    Setting `cancel`, from any thread, ends it. It may import packages of `layer`.
    """
    before = snapshot(vfs)
    kept = False
    try:
        value, printed = _run(sources, vfs, limits, bounds or BOUNDS, arguments=arguments, cancel=cancel, layer=layer)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
        kept = True
    finally:
        if not kept:
            restore(vfs, before)
    return f"{text}\nPrinted:\n{printed}" if printed else text


def schema_of(sources: Closure, *, limits: Limits = TOOL_LIMITS, layer: ToolLayer = NO_LAYER) -> Json:
    """`get_schema()` of the tool, checked so that a toolbox and every model can use it."""
    value, _ = _run(sources, None, limits, BOUNDS, layer=layer)
    problem = _schema_problem(value, sources.name)
    if problem:
        raise ToolFailed(f"get_schema() of {sources.path} {problem}.")
    return {key: value[key] for key in ("name", "description", "parameters")}


def _run(
    sources: Closure,
    vfs: WorkInProgressVFS | None,
    limits: Limits,
    bounds: Bounds,
    *,
    arguments: Json | None = None,
    cancel: threading.Event | None = None,
    layer: ToolLayer,
) -> tuple[Any, str]:
    request = {
        "module": f"{FOLDER}.{sources.name}",
        "modules": sources.modules,
        "sources": {path: base64.b64encode(data).decode() for path, data in sources.sources.items()},
        "schema": arguments is None,
        "arguments": arguments,
        "packages": layer.packages,
    }
    with tempfile.TemporaryDirectory(prefix="forge-tool-", ignore_cleanup_errors=True) as name:
        proxy = Proxy(_listening(Path(name)), vfs, bounds)
        proxy.start()
        try:
            result = run(
                _command(layer.python),
                Path(name),
                limits,
                env=layer.variables,
                mounts=layer.mounts,
                stdin=json.dumps(request).encode(),
                root=layer.root,
                needs_own_python=not layer.python,
                cancel=cancel,
            )
        finally:
            proxy.finish()
    return _value(sources.name, result, proxy, layer.notes), tail(_printed(result), _PRINTED_BYTES)


def _value(name: str, result: CommandResult, proxy: Proxy, notes: Sequence[str]) -> Any:
    ended = [limit for limit in result.limited if limit not in ("output", "file size")]
    printed = tail(_printed(result), _PRINTED_BYTES)
    after = f"\nPrinted:\n{printed}" if printed else ""
    after += "".join(f"\nIt ran {note}." for note in notes)
    if result.cancelled:
        raise ToolFailed(f"The tool {name} was ended: the turn was cancelled.")
    if ended:
        raise ToolFailed(f"The tool {name} was ended: it reached the limit of {', '.join(ended)}.{after}")
    if proxy.trouble:
        raise ToolFailed(f"The tool {name} failed: {proxy.trouble}.{after}")
    if proxy.said is None or result.exit_code != 0:
        raise ToolFailed(f"The tool {name} ended with exit code {result.exit_code} and without a result.{after}")
    if "failed" in proxy.said:
        raise ToolFailed(f"The tool {name} failed: {proxy.said['failed'][:4_000]}{after}")
    return proxy.said["done"]


def _printed(result: CommandResult) -> str:
    return "\n".join(filter(None, [result.stdout_text.strip(), result.stderr_text.strip()]))


def _schema_problem(value: object, name: str) -> str:
    if not isinstance(value, dict):
        return "gives no object"
    if value.get("name") != name:
        return f"must give the name of its file, {name!r}"
    if not isinstance(value.get("description"), str) or not value["description"].strip():
        return "gives no description"
    parameters = value.get("parameters")
    if not isinstance(parameters, dict) or parameters.get("type") != "object":
        return 'must give `parameters` as a JSON schema with "type": "object"'
    if not is_schema(parameters):
        return "gives parameters that are no JSON schema"
    return "is too long" if len(json.dumps(value)) > _SCHEMA_BYTES else ""


def _listening(directory: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    # A socket's path may have a hundred bytes only; by way of the descriptor any directory will do.
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        listener.bind(f"/proc/self/fd/{descriptor}/{_SOCKET}")
    finally:
        os.close(descriptor)
    listener.listen(1)
    return listener


@cache
def _command(python: str) -> tuple[str, ...]:
    source = Path(__file__).with_name("child.py").read_text(encoding="utf-8")
    return (*((python,) if python else OWN_PYTHON), "-I", "-S", "-B", "-X", "utf8", "-c", source)
