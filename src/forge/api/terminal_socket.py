"""A terminal over a WebSocket: keys and output as bytes, all else as JSON; at the end, what to do with the changes.

From the client: bytes are keys; `{"resize": [rows, columns]}`, `{"end": true}` ends the shell, then
`{"save": message}` or `{"discard": true}`. To the client: bytes are output; `{"ended": …}` with what the shell
changed, `{"saved": commit}`, `{"problem": …}`.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from forge.api.http.problems import document, status_of
from forge.app.repositories.commands import CommandRun
from forge.app.repositories.terminals import Terminal
from forge.errors import ForgeError, InvalidInput

_LARGEST = 1 << 16
_WAITING = 256
"""Pieces of output that wait for a slow client; the shell waits when there are more."""
_LOOK = 15.0
_SHOWN = 500


class MessageInvalid(InvalidInput):
    code = "message_invalid"


class TerminalSocket:
    def __init__(self, socket: WebSocket, terminal: Terminal, may_stay: Callable[[], Awaitable[bool]]) -> None:
        self._socket = socket
        self._terminal = terminal
        self._may_stay = may_stay
        self._loop = asyncio.get_running_loop()
        self._output: asyncio.Queue[bytes | None] = asyncio.Queue(_WAITING)
        self._ended = False
        self._decided = False

    async def run(self) -> None:
        shell = asyncio.create_task(self._shell())
        reading = asyncio.create_task(self._read())
        sending = asyncio.create_task(self._send_output())
        watching = asyncio.create_task(self._watch())
        try:
            await asyncio.wait({reading, watching}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._terminal.kill()
            for task in (reading, watching, sending):
                task.cancel()
            await asyncio.gather(reading, watching, sending, return_exceptions=True)
            await self._until_over(shell)
            if not self._decided and self._terminal.workspace.pending:
                await asyncio.to_thread(self._terminal.set_aside)

    async def _until_over(self, shell: asyncio.Task[None]) -> None:
        """Output that nobody reads any more must not hold up the end."""
        while not shell.done():
            while not self._output.empty():
                self._output.get_nowait()
            await asyncio.wait({shell}, timeout=0.05)
        shell.result()

    async def _shell(self) -> None:
        try:
            done = await self._in_own_thread()
        except ForgeError as e:
            self._decided = True
            await self._problem(e)
            with suppress(RuntimeError):
                await self._socket.close(1011, e.code)
            return
        self._ended = True
        self._decided = not done.changes
        changes = [{"path": each.path, "change": str(each.change)} for each in done.changes[:_SHOWN]]
        told = {"exit_code": done.result.exit_code, "limited": list(done.result.limited), "notes": list(done.notes)}
        await self._output.put(None)
        await self._say({"ended": {**told, "changes": changes, "changed": len(done.changes)}})

    async def _in_own_thread(self) -> CommandRun:
        """A shell stays for hours: the threads that answer requests are not for it."""
        future: Future[CommandRun] = Future()

        def work() -> None:
            try:
                future.set_result(self._terminal.run(self._show))
            except BaseException as e:  # noqa: BLE001 - raised again where it is awaited
                future.set_exception(e)

        threading.Thread(target=work, name="terminal", daemon=True).start()
        return await asyncio.wrap_future(future)

    def _show(self, data: bytes) -> None:
        """In the thread of the shell, which waits while the client is slow."""
        if not self._terminal.is_killed:
            asyncio.run_coroutine_threadsafe(self._output.put(data), self._loop).result(60)

    async def _send_output(self) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):
            while (data := await self._output.get()) is not None:
                await self._socket.send_bytes(data)

    async def _watch(self) -> None:
        """A key may be revoked, and a person may forget the terminal."""
        while await self._may_stay() and not (self._terminal.is_idle and not self._ended):
            await asyncio.sleep(_LOOK)
        with suppress(RuntimeError):
            await self._socket.close(1008, "idle or no longer allowed")

    async def _read(self) -> None:
        while (message := await self._socket.receive())["type"] == "websocket.receive":
            data, text = message.get("bytes"), message.get("text")
            if len(data or text or "") > _LARGEST:
                return await self._socket.close(1009, "message too long")
            try:
                if data is not None:
                    await asyncio.to_thread(self._terminal.type, data)
                elif await self._do(_parsed(text or "")):
                    return None
            except ForgeError as e:
                await self._problem(e)
        return None

    async def _do(self, wanted: dict[str, Any]) -> bool:
        """Whether that was the last word."""
        match wanted:
            case {"resize": [int(rows), int(columns)]}:
                await asyncio.to_thread(self._terminal.resize, rows, columns)
            case {"end": True}:
                self._terminal.hang_up()
            case {"save": str(message)} if self._ended:
                commit = await asyncio.to_thread(self._terminal.save, message)
                self._decided = True
                await self._say({"saved": commit})
                return True
            case {"discard": True} if self._ended:
                self._decided = True
                await self._say({"discarded": True})
                return True
            case _:
                raise MessageInvalid(
                    "This message means nothing here.", hint="Send keys as bytes; save or discard after the end."
                )
        return False

    async def _problem(self, error: ForgeError) -> None:
        await self._say({"problem": document(status_of(error), error.code, error.message, error.hint)})

    async def _say(self, value: dict[str, Any]) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):  # nobody is there any more
            await self._socket.send_text(json.dumps(value))


def _parsed(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {}
