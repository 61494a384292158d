"""Messages to a project and actions on it, for a person with the permission: performed, then written to the audit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from forge.app.access.identity import Who, audit
from forge.app.process.workshop import Workshop
from forge.app.projects import actions, messages, work_stop
from forge.app.projects.messages import About, Given
from forge.app.projects.named_run import ActionEffect
from forge.json_value import Json
from forge.pipeline.actions import Action
from forge.projects.project import Project


async def perform_found(
    shop: Workshop,
    who: Who,
    project: Project,
    action: str,
    *,
    text: str = "",
    confirmed: bool = False,
    action_id: str | None = None,
    given: Sequence[Given] = (),
) -> ActionEffect:
    """In the project of this directory, for a person with the permission."""
    wanted: Json = {"text": text, "action_id": action_id}
    again = await actions.restarted(shop, project, **wanted) if action == Action.RESUME else None
    done = again or await actions.perform(shop, project, Action(action), confirmed=confirmed, given=given, **wanted)
    await asyncio.to_thread(_audited, shop, who, project, done, f"project.{action}")
    return done


async def say_found(
    shop: Workshop,
    who: Who,
    project: Project,
    text: str,
    *,
    given: Sequence[Given] = (),
    about: About | None = None,
    action_id: str | None = None,
) -> ActionEffect:
    """To the project of this directory, for whoever may do so."""
    done = await messages.say(shop, project, text, given=given, about=about, action_id=action_id)
    await asyncio.to_thread(_audited, shop, who, project, done, "project.say")
    return done


async def stop_found(shop: Workshop, who: Who, project: Project) -> None:
    """Stop its work; the project halts and can be resumed."""
    await work_stop.stop_work(shop, project)
    await asyncio.to_thread(audit, shop, who, "project.stop", f"project:{project.id}")


def _audited(shop: Workshop, who: Who, project: Project, done: ActionEffect, action: str) -> None:
    if done.changed:
        audit(shop, who, action, f"project:{project.id}")
