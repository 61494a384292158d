"""A process with an engine whose run has two loops, and which can die with SIGKILL between two steps."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from forge.agents.loop import Loop, Submitted, run_loop
from forge.agents.model import Prompt
from forge.agents.profile import Profile
from forge.agents.relay.journal import Journal
from forge.agents.scripted import Say, ScriptedModel, call
from forge.agents.submission import Submission
from forge.engine.engine import Engine
from forge.engine.run import Run
from forge.json_value import Json
from forge.sessions.messages import AssistantMessage, Usage, UserMessage
from forge.settings import CostLimits
from forge.store.costs import Costs
from forge.store.database import Database
from forge.tools.access import ToolAccess
from forge.tools.tool import FunctionTool
from forge.tools.toolbox import Toolbox

ANY = {"type": "object"}
LOOPS = {"contract/blueprint": 1.0, "contract/schema": 5.0}
"""Scopes, and what each answer costs."""


def main(folder: str, dies_at: str, pipe: Connection) -> None:
    asyncio.run(_live(Path(folder), dies_at, pipe))


async def _live(folder: Path, dies_at: str, pipe: Connection) -> None:
    database = Database.open(f"sqlite:///{folder}/data/forge.db")
    engine = Engine(database, serve=True, beat=0.2, dead_after=1.0)
    diary = os.open(folder / "diary", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def note(*words: str) -> None:
        os.write(diary, (" ".join(words) + "\n").encode())

    async def loops(run: Run, arguments: Json) -> Json:
        values = [await _loop(run, scope, usd) for scope, usd in LOOPS.items()]
        return {"values": values}

    async def _loop(run: Run, scope: str, usd: float) -> Json:
        def answer(then: Say) -> Any:
            def said(prompt: Prompt) -> Say:
                note("asked", scope)
                return then

            return said

        def paid(name: str, answer: AssistantMessage) -> None:
            place = {"repository": "", "branch": "", "model": answer.model, "time": time.time()}
            Costs(database).record(run.id, name, usage=answer.usage, **place)
            if name == dies_at:
                os.kill(os.getpid(), signal.SIGKILL)

        def spend(args: Json) -> str:
            note("spent", scope)
            return "spent"

        usage = Usage(requests=1, cost=usd)
        script = [Say("", (call("spend"),), usage=usage), Say("", (call("submit", scope=scope),), usage=usage)]
        profile = Profile("writer", "writer", "Write.", ToolAccess(frozenset({"spend"})))
        loop = Loop(
            profile=profile,
            model=ScriptedModel(map(answer, script), by_prompt=True),
            toolbox=Toolbox([FunctionTool("spend", "Spend.", ANY, spend, outside=True)], profile.tools, files=False),
            journal=Journal(folder / "answers"),
            paid=paid,
            limits=CostLimits(turn_usd=None),
            submission=Submission(ANY),
        )
        end = (await run_loop(loop, [UserMessage(f"Write {scope}.")], run.scoped(scope))).end
        assert isinstance(end, Submitted)
        return end.value

    engine.register("loops", loops)
    await engine.start()
    result = await (await engine.start_run("loops", {}, run_id="two")).result()
    pipe.send((result, Costs(database).total(run="two").cost, Costs(database).total(run="two").requests))
    await engine.close()
    database.close()
