"""A provider on this machine for turns of real processes: answers by what it is asked, and remembers every request."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

from tests.support.stand_in import Reply, Request, StandIn, anthropic

T = TypeVar("T")
MODEL = "anthropic:claude-sonnet-5"
KEY = "sk-test-0123456789"
_RESET_SECONDS = 0.02
_TASK = re.compile(r"task ([a-z]+[0-9]+):")


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: which answer of which task it wanted, and what exactly it said."""

    task: str
    number: int
    content: str
    at: float
    tools: frozenset[str] = frozenset()
    """What it could call."""

    @property
    def place(self) -> tuple[str, int]:
        return self.task, self.number


Answers = Callable[[Asked], Reply]


def message(task: str) -> str:
    """What a person says so that the provider knows which script to follow."""
    return f"task {task}: write the notes and run the command."


def working(asked: Asked, *, pause: float = 0.01, command_seconds: float = 0.05) -> Reply:
    """Three answers: a new file; a change of it and a command whose result nobody can foresee; the last word."""
    task = asked.task
    path = f"notes/{task}.txt"
    lot = f"echo {task} $(od -An -N4 -tu4 /dev/urandom) | tee -a ran.log; sleep {command_seconds}"
    match asked.number:
        case 1:
            calls: tuple[tuple[str, dict[str, Any]], ...] = (
                ("write_file", {"path": path, "content": f"one {task}\n"}),
            )
            return Reply(("I will ", "write ", "the notes ", f"of {task}."), calls, pause=pause)
        case 2:
            calls = (
                ("search_replace", {"path": path, "search": "one", "replace": "two"}),
                ("run_command", {"command": lot}),
            )
            return Reply(("Now ", "the command."), calls, pause=pause)
    return Reply(("Done", f" with {task}.", f"\n\nCommit: Write the notes of {task}"), pause=pause)


class Provider:
    """Serves from a thread of its own: `with Provider() as provider: provider.environ`."""

    def __init__(self, answers: Answers = working) -> None:
        self._answers = answers
        self.asked: list[Asked] = []
        self.answered: Counter[tuple[str, int]] = Counter()
        """How often each answer was sent to its end."""
        self.read: Counter[tuple[str, int]] = Counter()
        """How often each answer was also read to its end by who had asked: nothing of it was left in the socket."""
        self.paid_again: Counter[tuple[str, int]] = Counter()
        """Requests for an answer that had been read to its end before."""
        self._server = _Telling(self)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="provider", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._do(self._server.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        self._do(self._server.__aexit__())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self._loop)
        return future.result(30)

    @property
    def environ(self) -> dict[str, str]:
        return {"ANTHROPIC_BASE_URL": self._server.url, "ANTHROPIC_API_KEY": KEY, "FORGE_MODEL": MODEL}

    @property
    def counts(self) -> Counter[tuple[str, int]]:
        return Counter(one.place for one in self.asked)

    def reply(self, request: Request) -> Reply:
        asked = _asked(request)
        self.asked.append(asked)
        if self.read[asked.place]:
            self.paid_again[asked.place] += 1
        # The one who asks closes the connection, which tells whether it had read everything.
        return replace(self._answers(asked), headers={"connection": "close"})


class _Telling(StandIn):
    def __init__(self, provider: Provider) -> None:
        super().__init__(anthropic, lambda request, _: provider.reply(request))
        self._provider = provider

    async def _answer(self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        goes_on = await super()._answer(request, reader, writer)
        place = _asked(request).place
        self._provider.answered[place] += 1
        # What a long run keeps of a request is its digest.
        self.requests[self.requests.index(request)] = replace(request, body=b"")
        if await _was_read(reader, writer):
            self._provider.read[place] += 1
        return goes_on


async def _was_read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """A kernel closes a connection with a reset, not an end, where the process has left bytes unread.

    That holds for a process that was killed too, so nobody has to be asked.
    """
    await asyncio.sleep(0)  # whoever listened for the end of the connection has stopped by then
    try:
        await reader.read(1)
    except ConnectionError:
        return False
    # An end that came before the last bytes were sent is answered with a reset of these.
    await asyncio.sleep(_RESET_SECONDS)
    return not writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)


def _asked(request: Request) -> Asked:
    """The answers since the last message that names a task are those of its turn; the task may have no name."""
    said = [(one["role"], json.dumps(one["content"])) for one in request.json["messages"]]
    named = (place for place, (role, text) in enumerate(said) if role == "user" and _TASK.search(text))
    last = max(named, default=0)
    task = (_TASK.findall(said[last][1]) or [""])[-1]
    number = 1 + sum(role == "assistant" for role, _ in said[last:])
    tools = frozenset(str(each.get("name")) for each in request.json.get("tools", ()))
    return Asked(task, number, hashlib.sha256(request.body).hexdigest(), time.time(), tools)
