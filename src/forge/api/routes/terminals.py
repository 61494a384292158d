"""Terminals on branches, over a WebSocket."""

from __future__ import annotations

from fastapi import WebSocket
from starlette.concurrency import run_in_threadpool

from forge.api.access.gate import Gate, who_of
from forge.api.http.dependencies import Shop
from forge.api.http.parameters import Branch, Repo
from forge.api.http.problems import document, status_of
from forge.api.http.routing import router_for
from forge.api.terminal_socket import TerminalSocket
from forge.app.repositories import terminals
from forge.errors import Denied, ForgeError

router = router_for("/repositories/{repository}", tag="branches")


@router.websocket("/terminal")
async def terminal(socket: WebSocket, shop: Shop, repository: Repo, branch: Branch) -> None:
    """A shell in the sandbox on the files of a branch. What it changed can be saved as one commit at the end."""
    who = who_of(socket.scope)
    gate: Gate = socket.app.state.gate
    await socket.accept()
    try:
        gate.count(who)
        made = await run_in_threadpool(terminals.open_terminal, shop, who, repository, branch)
    except ForgeError as e:
        if isinstance(e, Denied):
            await gate.note_refusal(e, socket.scope, who)
        await socket.send_json({"problem": document(status_of(e), e.code, e.message, e.hint)})
        await socket.close(1008, e.code)
        return
    await TerminalSocket(socket, made, lambda: run_in_threadpool(gate.still_holds, socket.scope)).run()
