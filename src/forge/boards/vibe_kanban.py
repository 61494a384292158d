"""Mirrors projects to Vibe Kanban by its local REST API. That has workspaces, and no cards: a workspace is the card."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx2

from forge.boards.errors import BoardFailed, BoardInvalid
from forge.boards.program import SECONDS, refused
from forge.plugins.roles import Board, Card

NAME = "vibekanban"
_HINT = "start it with `npx vibe-kanban`, or disable boards.vibekanban"


@dataclass(frozen=True, slots=True)
class VibeKanbanBoard:
    """Where its server listens is in `url`, or in the file that a running server writes."""

    url: str | None
    port_file: Path

    @property
    def name(self) -> str:
        return NAME

    async def create(self, card: Card) -> str:
        """The workspace whose name ends with the project's id is its card; so a crash cannot leave two."""
        for workspace in await self._ask("GET", "/api/workspaces") or ():
            if str(workspace.get("name") or "").endswith(_mark(card)):
                return str(workspace["id"])
        made = await self._ask("POST", "/api/workspaces", {"name": _title(card)})
        if not isinstance(made, dict) or not isinstance(made.get("id"), str):
            raise BoardFailed("Vibe Kanban made a workspace and did not say which", hint=_HINT)
        return str(made["id"])

    async def update(self, reference: str, card: Card) -> None:
        change = {"name": _title(card), "archived": card.phase == "done"}
        await self._ask("PUT", f"/api/workspaces/{quote(reference, safe='')}", change)

    def address(self) -> str:
        return self.url or f"http://127.0.0.1:{_port(self.port_file)}"

    async def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        address = self.address()
        try:
            # No proxy of the environment stands between this machine and itself.
            async with httpx2.AsyncClient(base_url=address, timeout=SECONDS, trust_env=False) as client:
                response = await client.request(method, path, json=body)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise BoardFailed(
                f"Vibe Kanban does not answer at {address}: {type(error).__name__}", hint=_HINT
            ) from error
        try:
            answer = response.json()
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or answer.get("success") is not True or response.is_error:
            said = answer.get("message") if isinstance(answer, dict) else None
            raise refused(NAME, str(said or f"status {response.status_code}"), hint=_HINT)
        return answer.get("data")


def vibe_kanban(settings: Mapping[str, Any]) -> Board:
    """`url` of its server; without it, the file in `temporary` (default /tmp) that tells its port."""
    url = str(settings.get("url") or "").rstrip("/") or None
    if url is not None and not (url.startswith(("http://", "https://")) and urlsplit(url).hostname):
        raise BoardInvalid("boards.vibekanban.url must start with http:// or https://", hint="or leave it out")
    temporary = Path(str(settings.get("temporary") or "/tmp"))  # noqa: S108 - where its server writes the file
    return VibeKanbanBoard(url, temporary / "vibe-kanban" / "vibe-kanban.port")


def _port(file: Path) -> int:
    """A number, or an object with it under `main_port`, as newer servers write."""
    try:
        value = json.loads(file.read_text("utf-8"))
        port = int(value["main_port"] if isinstance(value, dict) else value)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BoardFailed("Vibe Kanban is not running", hint=_HINT) from error
    if not 0 < port < 65_536:
        raise BoardFailed("Vibe Kanban is not running", hint=_HINT)
    return port


def _mark(card: Card) -> str:
    return f"· {card.project_id}"


def _title(card: Card) -> str:
    return f"{card.name} [{card.phase}] {_mark(card)}"
