"""The run that a project names: begun, gone on with after a crash, followed until it has ended or waits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from typing import Any

from forge.app.process.workshop import Workshop
from forge.app.projects.chosen_agents import who_answers
from forge.app.projects.named_run import ActionEffect, topic_of
from forge.app.projects.run_kinds import DELIVER, KINDS
from forge.app.projects.view import state_of
from forge.engine.engine import RUNS
from forge.engine.errors import RunUnknown
from forge.errors import ForgeError
from forge.events import Event
from forge.projects.project import Project
from forge.store.listeners import Live, Recorded

_MOMENT, _LOOK_AGAIN = 5.0, 0.05
_ABOUT_TO_END, _ENDS = 1.0, 20.0


async def go_on(shop: Workshop, project: Project) -> str | None:
    """See that the run which a project names is under way: begin it if a crash came first, take it over if need be."""
    run = (await asyncio.to_thread(project.info)).run
    if run is None:
        return None
    id_, kind = run.id, run.kind
    try:
        row = await asyncio.to_thread(shop.engine.status, id_)
    except RunUnknown:
        phase = (await asyncio.to_thread(project.status)).phase
        if run.ended or KINDS.get(phase) != kind:
            # It ended on another machine, from where the directory was copied.
            return None
        agents = await asyncio.to_thread(who_answers, shop, project)
        arguments = {"directory": str(project.directory), "agents": agents}
        if kind == DELIVER:
            await shop.engine.enqueue(RUNS, kind, arguments, run_id=id_, subject=project.subject)
        else:
            await shop.engine.start_run(kind, arguments, run_id=id_, subject=project.subject, anywhere=True)
        return id_
    if not row.has_ended:
        shop.engine.take_over(id_)
    return id_


async def settled(shop: Workshop, project: Project) -> None:
    """Wait while a run is between its stop and its question, or an answer and its continuation: what an action means
    there is not defined.
    """
    until = time.monotonic() + _MOMENT
    while await asyncio.to_thread(_is_between, shop, project) and time.monotonic() < until:
        await asyncio.sleep(_LOOK_AGAIN)


async def is_free_soon(shop: Workshop, project: Project) -> bool:
    """Whether nothing is under way, now or in a moment: a run writes the next phase just before its own end."""
    if not (await asyncio.to_thread(state_of, shop, project)).busy:
        return True
    run = (await asyncio.to_thread(project.info)).run
    phase = (await asyncio.to_thread(project.status)).phase
    # In a phase that is not its own, a run has nothing left to do but end.
    until = time.monotonic() + (_ABOUT_TO_END if run is not None and KINDS.get(phase) == run.kind else _ENDS)
    while time.monotonic() < until:
        await asyncio.sleep(_LOOK_AGAIN)
        if not (await asyncio.to_thread(state_of, shop, project)).busy:
            return True
    return False


def _is_between(shop: Workshop, project: Project) -> bool:
    return project.info().waiting is not None and state_of(shop, project).busy


async def follow(shop: Workshop, project: Project, done: ActionEffect) -> AsyncIterator[Event]:
    """What happens, as it happens, until the work has ended or waits for a person."""
    if done.run is None:
        return
    last = done.after
    over = asyncio.ensure_future(_over(shop, done.run))
    try:
        async with aclosing(shop.events.follow(topic_of(project), done.after)) as heard:
            async for item in _until(over, heard):
                last = last if isinstance(item, Live) else item.id
                yield item.event
        await shop.events.flush()
        for recorded in await asyncio.to_thread(shop.events.after, topic_of(project), last):
            yield recorded.event
        with suppress(ForgeError):
            await over
    finally:
        await _dropped(over)


async def _until(over: asyncio.Future[Any], heard: AsyncIterator[Live | Recorded]) -> AsyncIterator[Live | Recorded]:
    while not over.done():
        coming: asyncio.Future[Any] = asyncio.ensure_future(anext(heard))
        try:
            await asyncio.wait({coming, over}, return_when=asyncio.FIRST_COMPLETED)
            if coming.done():
                yield coming.result()
        finally:
            # Also when a person interrupts: what is still read from cannot be closed.
            await _dropped(coming)


async def _dropped(task: asyncio.Future[Any]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def is_over(shop: Workshop, run: str, *, within: float) -> bool:
    """Whether a run has ended or waits for a person, now or within so many seconds."""
    with suppress(TimeoutError, ForgeError):
        async with asyncio.timeout(within):
            await _over(shop, run)
    has_ended = (await asyncio.to_thread(shop.engine.status, run)).has_ended
    return has_ended or bool(await asyncio.to_thread(shop.engine.open_questions, run_id=run))


async def _over(shop: Workshop, run: str) -> None:
    ended = asyncio.ensure_future(shop.engine.handle(run).result())
    try:
        while not ended.done():
            if await asyncio.to_thread(shop.engine.open_questions, run_id=run):
                return
            await asyncio.wait({ended}, timeout=0.1)
        await ended
    finally:
        await _dropped(ended)
