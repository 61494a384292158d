"""A process that lets the explorer answer with a scripted model, and can die with SIGKILL after any step of its run."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from forge.agents.model import Prompt
from forge.agents.models import registry
from forge.agents.scripted import Say, ScriptedModel, call
from forge.app.projects import exploration
from forge.app.projects.catalog import create
from forge.app.projects.messages import say
from forge.engine.run import Run
from tests.support.scripted_projects import Office

MODEL = "scripted:one"
SAID = "We want a dashboard, because the dispatchers type every order twice."
ROUTE = json.dumps({"mode": "gathering"})
ASSUMED = call(
    "register_assumption",
    claim="Dispatchers would use a dashboard",
    type="value",
    impact="high",
    confidence="guessed",
    basis="T1",
    reason="It is wished for.",
)
FRAMED = call("update_problem_statement", statement="Orders are typed twice.", reason="Said in T1.")
REPLY = "Blunt: a dashboard is a wish, not a problem. Who decides? Why now?"


def main(folder: str, dies_after: str, pipe: Connection) -> None:
    asyncio.run(_live(Path(folder), dies_after, pipe))


async def _live(folder: Path, dies_after: str, pipe: Connection) -> None:
    diary = os.open(folder / "diary", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.environ["HOME"] = str(folder)

    def noted(name: str, then: Say) -> Callable[[Prompt], Say]:
        def said(_: Prompt) -> Say:
            os.write(diary, f"asked {name}\n".encode())
            return then

        return said

    scripts = {
        True: [noted("route", Say(ROUTE))],
        False: [noted("respond 1", Say("", (ASSUMED, FRAMED))), noted("respond 2", Say(REPLY))],
    }

    class Both(ScriptedModel):
        """The light call has no tools, the heavy one has."""

        async def answer(self, prompt: Prompt, **options: Any) -> Any:
            return await ScriptedModel(scripts[not prompt.tools], name=MODEL, by_prompt=True).answer(prompt, **options)

    registry.resolve = lambda *_: Both([])  # type: ignore[assignment]
    whole = Run.step

    async def step(run: Run, name: str, function: Callable[[], Awaitable[Any]]) -> Any:
        done = await whole(run, name, function)
        if dies_after and name.startswith(dies_after):
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    Run.step = step  # type: ignore[method-assign]
    office = Office.at(folder / "office")
    async with office.opened() as shop:
        places = list((folder / "office/workspace/projects").glob("*"))
        if places:
            project = office.project(places[0].name)
        else:
            project = await create(shop, "Depot", agent=MODEL)
            await say(shop, project, SAID, about="problem")
        run = await exploration.answer(shop, project)
        if run is not None:
            shop.engine.take_over(run)
            await shop.engine.handle(run).result()
        seen = exploration.shown(shop.settings, project)
        requests = shop.costs.total(session=project.id).requests
        chat = [each.content for each in project.chat()]
        pipe.send((chat, [each["id"] for each in seen.assumptions], seen.problem, requests))
