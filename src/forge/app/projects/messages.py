"""What a person tells a project: words, links and files."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from forge.app.process.workshop import Workshop
from forge.app.projects.actions import press
from forge.app.projects.catalog import changed
from forge.app.projects.dependencies import plugins_of
from forge.app.projects.first_message import recognised, told_about
from forge.app.projects.runs import Pressed
from forge.app.projects.view import ProjectView
from forge.app.values.uploads import content_of
from forge.connectors import google_drive as drive
from forge.connectors import notion
from forge.errors import InvalidInput
from forge.pipeline import messages, realign, resources
from forge.pipeline.actions import Action
from forge.pipeline.answers import Given, checked
from forge.pipeline.scene import About
from forge.projects import priming
from forge.projects.project import Project
from forge.projects.status import Phase

__all__ = ["About", "Given"]

_SAID = "say"


class NothingSaid(InvalidInput):
    code = "nothing_said"


async def say(
    shop: Workshop,
    project: Project,
    text: str,
    *,
    given: Sequence[Given] = (),
    about: About | None = None,
    press_id: str | None = None,
) -> Pressed:
    """A message to the project: more of the brain dump, a correction, an answer, or input for a build that is stuck or
    a project that halted. `given` are answers to open questions by their number. `about` says whether the first message
    is background or the problem; alone, it answers that question.
    """
    if about is not None and not text.strip():
        return await told_about(shop, project, about)
    if not text.strip() and not given:
        raise NothingSaid("The message is empty.", hint="Write something, or answer a question.")
    phase = (await asyncio.to_thread(project.status)).phase
    if phase is Phase.BRAIN_DUMP:
        checked(given, 0)
        return await _dump(shop, project, text, about, press_id)
    correction = phase is Phase.HUMAN_REVIEW and realign.is_realign(text)
    spoken = Action.REALIGN if correction else Action.CORRECT
    action = Action.PROVIDE_INPUT if phase in (Phase.BUILDING, Phase.HALTED) else spoken
    return await press(shop, project, action, text=text, given=given, press_id=press_id, asked=_SAID)


def all_delegated(seen: ProjectView) -> tuple[Given, ...]:
    """Every open question left to whoever answers for the project."""
    return tuple(Given(number, delegated=True) for number in range(1, len(seen.open_questions) + 1))


def check_idea(shop: Workshop, text: str) -> None:
    """Refuse what could not be distilled, for whoever makes a project of a text and nothing else."""
    messages.check([text], minimum=shop.settings.brain_dump.min_word_count)


async def _dump(shop: Workshop, project: Project, text: str, about: About | None, press_id: str | None) -> Pressed:
    first = priming.is_priming(await asyncio.to_thread(project.chat))
    pressed = await press(shop, project, Action.CORRECT, text=text, press_id=press_id, asked=_SAID)
    if not pressed.changed:
        return pressed
    pulled = await pull_links(shop, project, text)
    heard = await recognised(shop, project, shop.redactor.text(text), about) if first or about else ""
    told = [one for one in (pulled, heard) if one]
    if told:
        await asyncio.to_thread(changed, project, lambda draft: draft.say("\n\n".join(told)), "chat: Forge")
    return Pressed(pressed.changed, None, pressed.after, "\n\n".join(told))


async def pull_links(shop: Workshop, project: Project, text: str) -> str:
    """Fetch what a message links to, where a connector is set up for it; what failed or was not read is named."""
    told: list[str] = []
    connectors = plugins_of(shop.settings).made_connectors(shop.settings.connectors)
    for link in messages.links(text):
        for connector in connectors:
            if connector.takes(link):
                with tempfile.TemporaryDirectory(prefix="forge-pull-") as place:
                    pulled = await connector.pull(link, Path(place))
                    await asyncio.to_thread(_keep, project, Path(place))
                told += [f"Saved resources/{Path(path).name}." for path in pulled.saved]
                told += [f"Could not fetch {failed}" for failed in pulled.failed]
                break
        else:
            told += _not_read(link)
    return "\n".join(told)


def _not_read(link: str) -> list[str]:
    """What to tell of a link that no connector fetched; nothing of those that none is there for."""
    for title, name, takes in (
        ("Notion", notion.NAME, notion.is_page),
        ("Google Drive", drive.NAME, drive.is_document),
    ):
        if takes(link):
            return [
                f"{title} is not set up; the page was not read: {link}\n"
                f"Set up `connectors.{name}` in the settings, or add the page as a file, or paste its text here."
            ]
    return []


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
