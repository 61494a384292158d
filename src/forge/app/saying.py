"""What a person tells a project: words, links and files."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from forge.app.pressing import press
from forge.app.projects import changed
from forge.app.sent_files import content_of
from forge.app.surroundings import plugins_of
from forge.app.underway import Pressed
from forge.app.workshop import Workshop
from forge.pipeline import messages, realign, resources
from forge.pipeline.actions import Action
from forge.pipeline.scene import sets_the_scene
from forge.projects import context_file, priming
from forge.projects.project import Project
from forge.projects.status import Phase

_SAID = "say"
SCENE_NOTED = "Noted in context.md. Now, what problem or opportunity are you after?"


async def say(shop: Workshop, project: Project, text: str, *, press_id: str | None = None) -> Pressed:
    """A message to the project: more of the brain dump, a correction, an answer, or input for a stuck build."""
    phase = (await asyncio.to_thread(project.status)).phase
    if phase is Phase.BRAIN_DUMP:
        return await _dump(shop, project, text, press_id)
    correction = phase is Phase.HUMAN_REVIEW and realign.is_realign(text)
    spoken = Action.REALIGN if correction else Action.CORRECT
    action = Action.PROVIDE_INPUT if phase is Phase.BUILDING else spoken
    return await press(shop, project, action, text=text, press_id=press_id, asked=_SAID)


def check_idea(shop: Workshop, text: str) -> None:
    """Refuse what could not be distilled, for whoever makes a project of a text and nothing else."""
    messages.check([text], minimum=shop.settings.brain_dump.min_word_count)


async def _dump(shop: Workshop, project: Project, text: str, press_id: str | None) -> Pressed:
    first = priming.is_priming(await asyncio.to_thread(project.chat))
    pressed = await press(shop, project, Action.CORRECT, text=text, press_id=press_id, asked=_SAID)
    if not pressed.changed:
        return pressed
    pulled = await pull_links(shop, project, text)
    told = [pulled] if pulled else []
    if first and sets_the_scene(text):
        said = shop.redactor.text(text)
        await asyncio.to_thread(context_file.update_org_context, project.records, internal_context=said)
        told.append(SCENE_NOTED)
    if told:
        await asyncio.to_thread(changed, project, lambda draft: draft.say("\n\n".join(told)), "chat: Forge")
    return Pressed(pressed.changed, None, pressed.after, "\n\n".join(told))


async def pull_links(shop: Workshop, project: Project, text: str) -> str:
    """Fetch what a message links to, where a connector is set up for it; what failed is named."""
    told: list[str] = []
    for link in messages.links(text):
        for connector in plugins_of(shop.settings).made_connectors(shop.settings.connectors):
            if connector.takes(link):
                with tempfile.TemporaryDirectory(prefix="forge-pull-") as place:
                    pulled = await connector.pull(link, Path(place))
                    await asyncio.to_thread(_keep, project, Path(place))
                told += [f"Saved resources/{Path(path).name}." for path in pulled.saved]
                told += [f"Could not fetch {failed}" for failed in pulled.failed]
                break
    return "\n".join(told)


def _keep(project: Project, place: Path) -> None:
    files: Mapping[str, str | bytes | None] = {f"resources/{file.name}": file.read_bytes() for file in place.iterdir()}
    if files:
        project.records.update(lambda _: files, f"resources: {', '.join(Path(path).name for path in files)}")


def add_resource(shop: Workshop, project: Project, source: Path) -> str:
    """Copy a person's file into the project; it is read with the next distillation."""
    limit = shop.settings.resource.max_file_size_mb
    path = resources.add(project.directory / "resources", source, max_file_size_mb=limit)
    project.records.take_in()
    return path


def take_resource(shop: Workshop, project: Project, name: str, content: IO[bytes]) -> str:
    """The same for a file that was sent under this name."""
    data = content_of(content, int(shop.settings.resource.max_file_size_mb * 1_000_000))
    path = resources.put(project.directory / "resources", name, data)
    project.records.take_in()
    return path
