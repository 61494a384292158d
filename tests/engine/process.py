"""A process that runs workflows and can be killed; told what to do through a pipe.

What really happens is written to a file, one line per execution, so that the tests can count.
"""

from __future__ import annotations

import asyncio
import os
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import forge.engine.durable  # noqa: F401 - loaded before the processes are forked
from forge.engine.engine import Engine
from forge.engine.run import Run
from forge.errors import ForgeError
from forge.events import BranchChanged
from forge.store.database import Database

Json = dict[str, Any]


class Diary:
    """Appended in one write each, so that lines of several processes do not mix."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(self, *words: object) -> None:
        os.write(self._file, (" ".join(map(str, words)) + "\n").encode())


def register(engine: Engine, diary: Diary, has: str) -> None:
    async def steps(run: Run, arguments: Json) -> Any:
        """`count` steps; each notes its beginning and end and takes `pause` seconds."""
        total = 0
        for number in range(arguments["count"]):

            async def work(number: int = number) -> int:
                diary.note(run.id, "begin", number, os.getpid())
                await asyncio.sleep(arguments.get("pause", 0))
                diary.note(run.id, "done", number, os.getpid())
                return number

            total += await run.step(f"step {number}", work)
            run.emit(BranchChanged("b", str(number), "run"))
        diary.note(run.id, "end", total)
        return total

    async def asks(run: Run, arguments: Json) -> Any:
        reply = await run.ask("go on?", ["yes", "no"], timeout=arguments.get("timeout"))
        return [reply.how, reply.text]

    def lacks(arguments: Json) -> str:
        return (
            "" if arguments.get("needs", "nothing") in (has, "nothing") else f"It waits: it needs {arguments['needs']}."
        )

    engine.register("steps", steps, lacks=lacks, needs=lambda arguments: [*filter(None, [arguments.get("needs")])])
    engine.register("asks", asks)


def main(options: Json, pipe: Connection) -> None:
    terminal = os.open(options["terminal"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(terminal, 1)
    os.dup2(terminal, 2)
    asyncio.run(live(options, pipe))


async def live(options: Json, pipe: Connection) -> None:
    began = time.perf_counter()
    database = Database.open(options["url"])
    has = options.get("engine", {}).pop("has", "")
    engine = Engine(database, **options.get("engine", {}), offers=lambda: [has])
    register(engine, Diary(Path(options["diary"])), has)
    await engine.start()
    pipe.send(round(time.perf_counter() - began, 3))
    await obey(engine, pipe)
    await engine.close()
    database.close()


async def obey(engine: Engine, pipe: Connection) -> None:
    """Each message is a method of the engine and its arguments; there is one reply to each."""
    ears = ThreadPoolExecutor(1)
    loop = asyncio.get_running_loop()
    while True:
        what, arguments, named = await loop.run_in_executor(ears, pipe.recv)
        try:
            match what:
                case "close":
                    return
                case "result":
                    reply: Any = await engine.handle(*arguments).result()
                case "enqueue" | "start_run":
                    reply = (await getattr(engine, what)(*arguments, **named)).id
                case "cancel":
                    reply = (await engine.cancel(*arguments)).state
                case "answer":
                    reply = await engine.answer(*arguments)
                case "take_over":
                    reply = engine.take_over(*arguments)
                case "serving":
                    reply = len(engine._worker.serving)
                case "offering":
                    reply = sum(arguments[0] in names for names in engine._worker.offers.values())
                case "questions":
                    reply = [question.id for question in engine.open_questions()]
        except ForgeError as error:
            reply = {"error": error.code}
        pipe.send(reply)
