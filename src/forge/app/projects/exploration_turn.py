"""One message to the explorer and the turn that answers it."""

from __future__ import annotations

import asyncio

from forge.app.access.identity import Who
from forge.app.process.work_loop import on_work_loop
from forge.app.process.workshop import Workshop
from forge.app.projects.audited_actions import say_found
from forge.app.projects.exploration import ExplorationClosed, answer
from forge.app.projects.lookup import project_for
from forge.app.projects.messages import About
from forge.app.projects.named_run import ActionEffect, topic_of
from forge.app.projects.repository_rights import refuse_where_they_may_not_build
from forge.projects.project import Project
from forge.projects.status import Phase


@on_work_loop
async def explore(
    shop: Workshop,
    who: Who,
    id_: str,
    text: str | None,
    *,
    about: About | None = None,
    action_id: str | None = None,
) -> ActionEffect:
    project = await asyncio.to_thread(project_for, shop, who, id_, "run")
    if text is not None or about is not None:
        await asyncio.to_thread(refuse_where_they_may_not_build, shop, who, project)
    return await explore_found(shop, who, project, text, about=about, action_id=action_id)


async def explore_found(
    shop: Workshop,
    who: Who,
    project: Project,
    text: str | None,
    *,
    about: About | None = None,
    action_id: str | None = None,
) -> ActionEffect:
    """For whoever may do so. Without words, what was said before is answered; the run is None where nothing waits."""
    if (await asyncio.to_thread(project.status)).phase is not Phase.BRAIN_DUMP:
        raise ExplorationClosed("The brain dump of this project is over.", hint="Start a new project to explore more.")
    if text is None and about is None:
        after = await asyncio.to_thread(shop.events.last, topic_of(project))
        return ActionEffect(changed=False, run=await answer(shop, project), after=after)
    said = await say_found(shop, who, project, text or "", about=about, action_id=action_id)
    return ActionEffect(said.changed, await answer(shop, project), said.after, said.message)
