"""Start the installed server as its program would, ask it for its tools and call one."""

from __future__ import annotations

import json
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forge.errors import Upstream
from forge.json_value import Json

_SECONDS = 30.0
_PASSED = ("HOME", "PATH", "LANG", "USER", "TMPDIR")
_PREFIXES = ("XDG_", "FORGE_", "LC_")


class ServerSilent(Upstream):
    """The command of the configuration does not answer as an MCP server."""

    code = "mcp_server_silent"


@dataclass(frozen=True, slots=True)
class Answered:
    """`seconds` until the first answer."""

    command: tuple[str, ...]
    server: str
    tools: tuple[str, ...]
    seconds: float
    said: str


def ask(client: str, words: Sequence[str], directory: Path, environ: Mapping[str, str]) -> Answered:
    """With the few variables that an editor passes on."""
    env = {name: value for name, value in environ.items() if name in _PASSED or name.startswith(_PREFIXES)}
    command = [each.replace("${workspaceFolder}", str(directory)) for each in words]
    begun = time.monotonic()
    try:
        process = subprocess.Popen(
            command, cwd=directory, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
    except OSError as e:
        raise _silent(command, e.strerror or str(e)) from e
    with process:
        try:
            told = _Conversation(process, command).asked("initialize", _hello(client))
            seconds = time.monotonic() - begun
            talk = _Conversation(process, command)
            talk.told("notifications/initialized")
            tools = tuple(each["name"] for each in talk.asked("tools/list", {})["tools"])
            called = "forge_list" if "forge_list" in tools else tools[0]
            said = talk.asked("tools/call", {"name": called, "arguments": {}})["content"][0]["text"]
        finally:
            process.kill()
    info = told["serverInfo"]
    return Answered(tuple(command), f"{info['name']} {info['version']}", tools, seconds, said)


class _Conversation:
    def __init__(self, process: subprocess.Popen[bytes], command: Sequence[str]) -> None:
        self._process = process
        self._command = command

    def told(self, method: str) -> None:
        self._send({"jsonrpc": "2.0", "method": method})

    def asked(self, method: str, params: Json) -> Json:
        self._send({"jsonrpc": "2.0", "id": method, "method": method, "params": params})
        while True:
            answer = self._line()
            if answer.get("id") == method:
                if "result" not in answer:
                    raise _silent(self._command, str(answer.get("error")))
                result: Json = answer["result"]
                return result

    def _send(self, message: Json) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as e:
            raise _silent(self._command, self._last_words()) from e

    def _line(self) -> Json:
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], _SECONDS)[0]:
            raise _silent(self._command, f"no answer in {_SECONDS:.0f} s")
        line = self._process.stdout.readline()
        if not line:
            raise _silent(self._command, self._last_words())
        try:
            found: Any = json.loads(line)
        except ValueError as e:
            raise _silent(self._command, f"it printed {line[:80]!r}") from e
        return found if isinstance(found, dict) else {}

    def _last_words(self) -> str:
        assert self._process.stderr is not None
        lines = self._process.stderr.read().decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it ended"


def _hello(client: str) -> Json:
    info = {"name": client, "version": "1"}
    return {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}


def _silent(command: Sequence[str], why: str) -> ServerSilent:
    return ServerSilent(
        f"`{' '.join(command)}` does not answer: {why}.",
        hint="Install again: `forge mcp install` writes the command anew.",
    )
