"""What a person tells a project: words, links and files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from forge.app.process.workshop import Workshop
from forge.app.projects.actions import perform
from forge.app.projects.change import change_project
from forge.app.projects.first_message import drop_question, recognised, told_about
from forge.app.projects.named_run import ActionEffect
from forge.app.projects.view import ProjectView
from forge.app.values.uploads import content_of
from forge.errors import InvalidInput
from forge.pipeline import messages, realign, resources
from forge.pipeline.actions import Action
from forge.pipeline.answers import Given, checked
from forge.pipeline.scene import About, answer_to_question
from forge.projects import priming_message
from forge.projects.project import Project
from forge.projects.status import Phase
from forge.settings import Settings

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
    action_id: str | None = None,
) -> ActionEffect:
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
        return await _dump(shop, project, text, about, action_id)
    correction = phase is Phase.HUMAN_REVIEW and realign.is_realign(text)
    spoken = Action.REALIGN if correction else Action.CORRECT
    action = Action.PROVIDE_INPUT if phase in (Phase.BUILDING, Phase.HALTED) else spoken
    return await perform(shop, project, action, text=text, given=given, action_id=action_id, asked=_SAID)


def all_delegated(seen: ProjectView) -> tuple[Given, ...]:
    """Every open question left to whoever answers for the project."""
    return tuple(Given(number, delegated=True) for number in range(1, len(seen.open_questions) + 1))


def check_idea(settings: Settings, text: str) -> None:
    """Refuse what could not be distilled, for whoever makes a project of a text and nothing else."""
    messages.check([text], minimum=settings.brain_dump.min_word_count)


async def _dump(
    shop: Workshop, project: Project, text: str, about: About | None, action_id: str | None
) -> ActionEffect:
    asked = about is None and (await asyncio.to_thread(project.info)).scene_asked is not None
    if asked and (answer := answer_to_question(text)):
        return await told_about(shop, project, answer)
    first = priming_message.is_priming(await asyncio.to_thread(project.chat))
    done = await perform(shop, project, Action.CORRECT, text=text, action_id=action_id, asked=_SAID)
    if not done.changed:
        return done
    if asked:
        await asyncio.to_thread(drop_question, shop, project)
    heard = await recognised(shop, project, shop.redactor.text(text), about) if first or about else ""
    if heard:
        await asyncio.to_thread(change_project, shop, project, lambda draft: draft.say(heard), "chat: Forge")
    told = "\n\n".join(one for one in (done.message, heard) if one)
    return ActionEffect(done.changed, None, done.after, told)


def resource_content(settings: Settings, source: Path) -> bytes:
    """What a person's file contains; refused where it cannot become a resource."""
    return resources.content_of(source, max_file_size_mb=settings.resource.max_file_size_mb)


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
