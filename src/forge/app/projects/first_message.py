"""The first words of a new project: background or the problem. A model tells, or the person is asked."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

from forge.app.admin.plugins import prompts_of
from forge.app.process.workshop import Workshop
from forge.app.projects.agents import agents_of
from forge.app.projects.change import change_project
from forge.app.projects.costs import record_cost
from forge.app.projects.named_run import ActionEffect
from forge.builtin_rules.problem_cues import states_problem
from forge.errors import ForgeError
from forge.pipeline.answerer import Task
from forge.pipeline.answers import AnswerRefused
from forge.pipeline.draft import Draft
from forge.pipeline.scene import PROMPT, QUESTION, About, Recognised, parse_recognised
from forge.projects import context_file
from forge.projects.project import Project

SCENE_NOTED = "Noted in context.md. Now, what problem or opportunity are you after?"
_RECORDED = "recorded:"
_PATIENCE = 30.0


async def recognised(shop: Workshop, project: Project, text: str, about: About | None) -> str:
    """Take in what the message is, and say what a person should know: that it was noted, or the question about it."""
    if about is not None:
        return await asyncio.to_thread(_taken, shop, project, Recognised(kind=about, context=text), text)
    name = (await asyncio.to_thread(project.info)).agent
    if name.startswith(_RECORDED):
        return ""
    found = await _asked(shop, project, text)
    if found is None:
        await asyncio.to_thread(change_project, shop, project, partial(_ask, text=text), "scene: asked")
        return QUESTION
    return await asyncio.to_thread(_taken, shop, project, found, text)


async def told_about(shop: Workshop, project: Project, about: About) -> ActionEffect:
    """The person answers what their first message was."""
    text = (await asyncio.to_thread(project.info)).scene_asked
    if text is None:
        raise AnswerRefused("Nobody has asked what a message is about.", hint="Send it together with your message.")
    heard = await asyncio.to_thread(_taken, shop, project, Recognised(kind=about, context=text), text)
    if heard:
        await asyncio.to_thread(change_project, shop, project, lambda draft: draft.say(heard), "chat: Forge")
    after = await asyncio.to_thread(shop.events.last, f"project:{project.id}")
    return ActionEffect(changed=True, run=None, after=after, message=heard)


def drop_question(shop: Workshop, project: Project) -> None:
    """Whoever writes on instead of answering has stated the problem: the question is an offer, not a gate."""

    def drop(draft: Draft) -> None:
        draft.info = replace(draft.info, scene_asked=None)

    change_project(shop, project, drop, "scene: problem")


async def _asked(shop: Workshop, project: Project, text: str) -> Recognised | None:
    """None where neither a model nor rules can tell. What goes wrong here stops nobody: the person is asked instead."""
    agents = await asyncio.to_thread(agents_of, shop, project)
    if agents.by_rules(PROMPT):
        return Recognised(kind="problem") if states_problem(text) else None
    told, run = prompts_of(shop.settings).get(PROMPT), f"scene-{project.id}"
    task = Task(PROMPT, told, {"message": text}, run=run, schema=Recognised)
    try:
        async with asyncio.timeout(_PATIENCE):
            response = await agents.answer(task)
        await asyncio.to_thread(record_cost, shop, project, run, task.place, response)
        return parse_recognised(response.output) if response.success else None
    except (ForgeError, TimeoutError) as e:
        project.log.write("warn", "agent_response", "brain_dump", f"{PROMPT}: {e}")
        return None


def _ask(draft: Draft, text: str) -> None:
    draft.info = replace(draft.info, scene_asked=text)


def _taken(shop: Workshop, project: Project, found: Recognised, text: str) -> str:
    if found.kind != "problem" and found.context.strip():
        context_file.update_org_context(project.records, internal_context=found.context)

    def note(draft: Draft) -> None:
        added = (text,) if found.kind == "background" else ()
        draft.info = replace(draft.info, scene_asked=None, background=(*draft.info.background, *added))

    change_project(shop, project, note, f"scene: {found.kind}")
    return SCENE_NOTED if found.kind == "background" else ""
