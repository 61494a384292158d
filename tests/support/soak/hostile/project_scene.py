"""A code project from its idea to its deliverable, while plain git interferes with the repository that it builds in."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from forge.app.process.workshop import open_workshop
from forge.app.projects.autopilot import LocalPilot, carry_on
from forge.app.projects.catalog import create
from forge.app.projects.messages import say
from forge.app.projects.view import ProjectView
from forge.engine.run import Run
from forge.git.refs.holds import HELD
from forge.git.refs.ref_files import KEPT
from forge.settings import load
from tests.support.soak import evidence, recording
from tests.support.soak.hostile.interference import RAW_WORDS, Moments

_BUILDS = ("deliver-", "turn-")
"""Runs that work in the code repository."""


def run_project(place: Path, moment: Moments) -> None:
    """It is done with all that it built, or it waits for a person with a reason in Forge's own words."""
    home = place.parent / "office"
    home.mkdir()
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": os.environ["HOME"],
        "FORGE_DATA_DIR": str(home / "data"),
        "FORGE_CONFIG": str(home / "config.yaml"),
        "FORGE_WORKSPACE": str(home / "workspace"),
    }
    (home / "config.yaml").touch()
    agent = recording.written(home)
    with _stepping(moment, place):
        seen = asyncio.run(_built(environ, agent, place, moment))
    said = f"{seen.question} {seen.problem}"
    assert not any(raw in said for raw in RAW_WORDS), said
    reachable = set(evidence.git(place, "rev-list", "--all").split())
    assert moment.held <= reachable, f"built and gone: {moment.held - reachable}"
    assert not seen.busy, seen
    assert seen.phase == "done" or seen.question, seen
    if moment.at is None:
        assert seen.phase == "done", seen
    if seen.phase == "done":
        assert seen.branch is not None
        tips = [seen.branch, *evidence.git(place, "for-each-ref", "--format=%(refname)", KEPT).split()]
        built = ["durations.py" in evidence.git(place, "ls-tree", "--name-only", tip).split() for tip in tips]
        assert any(built), tips
        assert not evidence.git(place, "for-each-ref", f"{HELD}project-*"), "a project that is done holds nothing"


async def _built(environ: dict[str, str], agent: str, place: Path, moment: Moments) -> ProjectView:
    settings = load(environ)
    async with open_workshop(settings, environ) as shop:
        project = await create(shop, "Durations", agent=agent, repository=place)
        moment.branch = f"forge/build-{project.id}"
        await say(shop, project, recording.IDEA, about="problem")
        return await carry_on(LocalPilot(shop, project), auto_confirm=True, hear=lambda _: None)


@contextmanager
def _stepping(moment: Moments, place: Path) -> Iterator[None]:
    """A moment before each step of a run that works in the repository, and one when it is done but not on record."""
    real = Run.step

    def pass_moment(name: str) -> None:
        if len(moment.names) == moment.at:
            rows = evidence.git(place, "for-each-ref", "--format=%(objectname)", f"{HELD}project-*").split()
            moment.held = frozenset(rows)
        moment(name)

    async def step(run: Run, name: str, function: Callable[[], Awaitable[Any]]) -> Any:
        if not run.id.startswith(_BUILDS):
            return await real(run, name, function)
        pass_moment(f"before {name}")

        async def watched() -> Any:
            done = await function()
            pass_moment(f"ran {name}")
            return done

        return await real(run, name, watched)

    with patch.object(Run, "step", step):
        yield
