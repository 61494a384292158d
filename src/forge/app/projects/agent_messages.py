"""Messages of agents to a project. An agent adds to what is said; it never answers for the person."""

from __future__ import annotations

import asyncio

from forge.app.drafts.drafts import Agent
from forge.app.process.workshop import Workshop
from forge.app.projects import project_access
from forge.app.projects.project_access import ActionResult
from forge.errors import Denied, InvalidInput
from forge.projects.status import Phase

_ANSWERS = frozenset({Phase.BUILDING, Phase.HALTED})
"""Here a message is input that the project waits for: only a person gives it."""


class PersonNeeded(Denied):
    """The project waits for its person; an agent cannot answer."""

    code = "person_needed"


async def say(shop: Workshop, agent: Agent, id_: str, text: str, *, explores: bool = False) -> ActionResult:
    """In the chat it is marked as the agent's. With `explores`, the explorer answers it."""
    if not text.strip():
        raise InvalidInput("The message is empty.", hint="Say what the project should know.")
    seen = await asyncio.to_thread(project_access.show_project, shop, agent.who, id_)
    if seen.phase in _ANSWERS or seen.open_questions or seen.waiting:
        raise PersonNeeded(
            f"The project is {seen.label or seen.phase} and waits for its person; an agent cannot answer.",
            hint="Tell the person what you found; they answer in Forge.",
        )
    said = f"[{agent.name}] {text.strip()}"
    return await project_access.say(shop, agent.who, id_, said, action_id=None, explores=explores)
