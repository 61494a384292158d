"""Vibe Kanban, against a server on this machine with the routes and answers of its REST API."""

from __future__ import annotations

import asyncio
import json
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from forge.boards.errors import BoardFailed, BoardInvalid
from forge.boards.vibe_kanban import vibe_kanban
from forge.plugins.roles import Card

pytestmark = pytest.mark.req("P-20")

CARD = Card("20261115-ab12", "Wedding", "brain_dump", "claude", "/projects/wedding")


@dataclass
class Server:
    port: int = 0
    workspaces: dict[str, dict[str, Any]] = field(default_factory=dict)
    broken: bool = False

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        match method, path.strip("/").split("/"):
            case _ if self.broken:
                return 500, {"success": False, "data": None, "error_data": None, "message": "database is locked"}
            case "GET", ["api", "health"]:
                return 200, "OK"
            case "GET", ["api", "workspaces"]:
                return 200, list(self.workspaces.values())
            case "POST", ["api", "workspaces"]:
                id_ = str(uuid.uuid4())
                made = {"id": id_, "branch": "vk/1-x", "name": body["name"], "archived": False, "pinned": False}
                self.workspaces[id_] = made
                return 200, made
            case "PUT", ["api", "workspaces", id_] if id_ in self.workspaces:
                self.workspaces[id_] |= {key: value for key, value in body.items() if value is not None}
                return 200, self.workspaces[id_]
        return 404, {"success": False, "data": None, "error_data": None, "message": "Workspace not found"}


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            status, value = state.answer(self.command, self.path, body)
            if status == 200:
                value = {"success": True, "data": value, "error_data": None, "message": None}
            text = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PUT = answer  # noqa: N815

        def log_message(self, *args: object) -> None:
            return

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    state.port = http.server_address[1]
    yield state
    http.shutdown()
    thread.join()
    http.server_close()


def told(server: Server) -> list[tuple[str, bool]]:
    return [(workspace["name"], workspace["archived"]) for workspace in server.workspaces.values()]


def test_a_project_becomes_a_workspace_that_follows_it_to_done(server: Server) -> None:
    board = vibe_kanban({"url": f"http://127.0.0.1:{server.port}/"})
    reference = asyncio.run(board.create(CARD))
    assert told(server) == [("Wedding [brain_dump] · 20261115-ab12", False)]
    asyncio.run(board.update(reference, replace(CARD, phase="polishing")))
    assert told(server) == [("Wedding [polishing] · 20261115-ab12", False)]
    asyncio.run(board.update(reference, replace(CARD, phase="done")))
    assert told(server) == [("Wedding [done] · 20261115-ab12", True)]


def test_a_workspace_that_was_made_before_a_crash_is_found_again(server: Server) -> None:
    server.workspaces["old"] = {"id": "old", "name": None, "archived": False}
    board = vibe_kanban({"url": f"http://127.0.0.1:{server.port}"})
    assert asyncio.run(board.create(CARD)) == asyncio.run(board.create(replace(CARD, phase="building")))
    assert len(server.workspaces) == 2


@pytest.mark.parametrize("newer", [True, False])
def test_a_running_server_is_found_by_the_file_with_its_port(server: Server, tmp_path: Path, newer: bool) -> None:
    settings = {"temporary": str(tmp_path)}
    with pytest.raises(BoardFailed, match="not running"):
        asyncio.run(vibe_kanban(settings).create(CARD))
    (tmp_path / "vibe-kanban").mkdir()
    written = json.dumps({"main_port": server.port, "preview_proxy_port": 1}) if newer else str(server.port)
    (tmp_path / "vibe-kanban/vibe-kanban.port").write_text(written)
    asyncio.run(vibe_kanban(settings).create(CARD))
    assert len(server.workspaces) == 1


@pytest.mark.parametrize("written", ["", "x", "0", "[]", '{"other": 1}', "99999"])
def test_a_file_that_tells_no_port_means_that_it_does_not_run(tmp_path: Path, written: str) -> None:
    (tmp_path / "vibe-kanban").mkdir()
    (tmp_path / "vibe-kanban/vibe-kanban.port").write_text(written)
    with pytest.raises(BoardFailed, match="not running"):
        asyncio.run(vibe_kanban({"temporary": str(tmp_path)}).create(CARD))


def test_a_server_that_fails_fails_softly(server: Server) -> None:
    settings = {"url": f"http://127.0.0.1:{server.port}"}
    with pytest.raises(BoardFailed, match="Workspace not found"):
        asyncio.run(vibe_kanban(settings).update("../gone", CARD))
    server.broken = True
    with pytest.raises(BoardFailed, match="database is locked"):
        asyncio.run(vibe_kanban(settings).create(CARD))


def test_a_server_that_left_its_file_behind_is_not_there(server: Server, tmp_path: Path) -> None:
    with pytest.raises(BoardFailed, match="does not answer") as caught:
        asyncio.run(vibe_kanban({"url": "http://127.0.0.1:1"}).create(CARD))
    assert "npx vibe-kanban" in caught.value.hint


def test_an_address_must_be_one(server: Server) -> None:
    with pytest.raises(BoardInvalid, match="url"):
        vibe_kanban({"url": "localhost:3000"})
