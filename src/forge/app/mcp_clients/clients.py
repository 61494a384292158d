"""The programs that Forge can be installed in: where each keeps its servers, and in which form."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from forge.errors import InvalidInput, NotFound
from forge.json_value import Json

Scope = Literal["user", "project"]
NAME = "forge"
"""Of the entry in every program."""


class ClientUnknown(NotFound):
    code = "mcp_client_unknown"


class ThrowAwayInstallation(InvalidInput):
    """The command that runs now will be gone when the client wants to start it."""

    code = "throw_away_installation"


@dataclass(frozen=True, slots=True)
class Client:
    """`user` and `project` are the paths of its files, below the home or configuration directory and the repository."""

    name: str
    section: str
    user: str
    project: str
    form: Literal["plain", "typed", "one_list", "custom"] = "plain"
    home: str = "~"
    workspace: str = ""
    """How the program writes the folder that is open, in a server for all projects."""

    @property
    def is_toml(self) -> bool:
        return self.user.endswith(".toml")

    def file(self, scope: Scope, root: Path, environ: Mapping[str, str]) -> Path:
        return root / self.project if scope == "project" else _home(self.home, environ) / self.user

    def entry(self, words: Sequence[str]) -> Json:
        match self.form:
            case "plain":
                return {"command": words[0], "args": list(words[1:])}
            case "typed":
                return {"type": "stdio", "command": words[0], "args": list(words[1:])}
            case "custom":
                return {"source": "custom", "command": words[0], "args": list(words[1:])}
            case "one_list":
                return {"type": "local", "command": list(words), "enabled": True}

    def words(self, entry: Json) -> list[str]:
        """The command line of an entry."""
        command = entry.get("command")
        if isinstance(command, list):
            return [str(each) for each in command]
        args = entry.get("args")
        return [str(command or ""), *(str(each) for each in (args if isinstance(args, list) else []))]


CLIENTS = {
    each.name: each
    for each in (
        Client("claude", "mcpServers", ".claude.json", ".mcp.json", "typed"),
        Client("codex", "mcp_servers", "config.toml", ".codex/config.toml", home="CODEX_HOME:~/.codex"),
        Client("gemini", "mcpServers", ".gemini/settings.json", ".gemini/settings.json"),
        Client("opencode", "mcp", "opencode/opencode.json", "opencode.json", "one_list", home="config"),
        Client(
            "vscode", "servers", "Code/User/mcp.json", ".vscode/mcp.json", "typed", "application", "${workspaceFolder}"
        ),
        Client("cursor", "mcpServers", ".cursor/mcp.json", ".cursor/mcp.json", workspace="${workspaceFolder}"),
        Client("zed", "context_servers", "zed/settings.json", ".zed/settings.json", "custom", "config"),
    )
}


def client_named(name: str) -> Client:
    found = CLIENTS.get(name)
    if found is None:
        raise ClientUnknown(f"Forge does not know the program {name[:60]!r}.", hint=f"It knows {', '.join(CLIENTS)}.")
    return found


def command_line(client: Client, scope: Scope, root: Path, *, forge: Path, prefix: str = sys.prefix) -> list[str]:
    """Absolute: editors do not know the person's PATH."""
    if any(part.startswith(("archive-v", "builds-v", "environments-v")) for part in Path(prefix).parts):
        raise ThrowAwayInstallation(
            "This Forge runs in a throw-away environment, which is gone when the program starts it.",
            hint="Install it first: `uv tool install` with the package you ran, then run this again.",
        )
    place = str(root) if scope == "project" else client.workspace
    return [str(forge), *(["-C", place] if place else []), "mcp"]


def _home(kind: str, environ: Mapping[str, str]) -> Path:
    home = Path(environ.get("HOME") or Path.home())
    is_mac = sys.platform == "darwin"
    variable, _, usual = kind.partition(":")
    if usual:
        return Path(environ.get(variable) or os.path.join(home, usual.removeprefix("~/")))
    if kind == "application" and is_mac:
        return home / "Library" / "Application Support"
    if kind in ("config", "application"):
        return Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    return home
