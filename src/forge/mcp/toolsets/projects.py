"""Projects for agents: list them, see where one stands, read its documents, tell it something. No decisions."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from forge.json_value import Json
from forge.mcp.call import Call
from forge.mcp.session import project_of
from forge.mcp.text import document
from forge.mcp.tool import Tool

if TYPE_CHECKING:
    from forge.app.process.workshop import Workshop
    from forge.app.projects.person_questions import Asked, Field
    from forge.app.projects.view import ProjectView

PROJECT: Json = {"type": "string", "description": "Project id; the session's if left out."}
_LISTED = 100
_SECONDS, _TASK_SECONDS, _LOOK_AGAIN = 45.0, 3600.0, 1.0
"""How long one call waits: as a request, as a task; and how often it looks."""
_SHOWN = ("id", "name", "phase", "label", "deliverable_type", "busy", "waiting", "question", "problem", "branch")


async def project_id(call: Call, arguments: Json) -> tuple[Workshop, str]:
    return await project_of(call, arguments.get("project"))


async def _list(call: Call, arguments: Json) -> str:
    from forge.app.projects.project_access import list_projects  # noqa: PLC0415

    del arguments
    shop = await call.host.shop()
    page = await call.in_thread(lambda: list_projects(shop, call.who, limit=_LISTED))
    if not page.items:
        return "There is no project."
    more = [f"The first {_LISTED} are shown."] if page.next else []
    return "\n".join([*(f"{each.id}  {each.name}: {each.label or each.phase}" for each in page.items), *more])


async def _show(call: Call, arguments: Json) -> str:
    from forge.app.projects.project_access import show_project  # noqa: PLC0415

    shop, id_ = await project_id(call, arguments)
    return document(_seen(await call.in_thread(lambda: show_project(shop, call.who, id_))))


def _seen(view: ProjectView) -> Json:
    shown = {name: getattr(view, name) for name in _SHOWN}
    rounds = {"rounds": len(view.rounds)} if view.rounds else {}
    return {**{k: v for k, v in shown.items() if v not in (None, "", ())}, **rounds, "updated_at": view.updated_at}


async def _read(call: Call, arguments: Json) -> str:
    from forge.app.projects.project_access import document as found  # noqa: PLC0415
    from forge.app.projects.project_access import documents  # noqa: PLC0415

    shop, id_ = await project_id(call, arguments)
    name = arguments.get("name")
    if name is None:
        files = await call.in_thread(lambda: documents(shop, call.who, id_))
        return "\n".join(f"{each.name} ({each.bytes_size:,} bytes)" for each in files) or "There is no document yet."
    file = await call.in_thread(lambda: found(shop, call.who, id_, name))
    return await call.in_thread(lambda: file.path.read_text("utf-8", "replace"))


async def _say(call: Call, arguments: Json) -> str:
    from forge.app.projects.agent_messages import say  # noqa: PLC0415

    shop, id_ = await project_id(call, arguments)
    done = await say(shop, call.agent, id_, arguments["text"])
    return f"{done.message or 'Noted.'}\nPhase: {done.project.label or done.project.phase}."


async def _wait(call: Call, arguments: Json) -> str:
    from forge.app.projects.person_questions import asked_of_person  # noqa: PLC0415
    from forge.app.projects.project_access import show_project  # noqa: PLC0415

    shop, id_ = await project_id(call, arguments)
    until = time.monotonic() + (_TASK_SECONDS if call.is_task else _SECONDS)
    while True:
        seen = await call.in_thread(lambda: show_project(shop, call.who, id_))
        asked = await call.in_thread(lambda seen=seen: asked_of_person(shop, call.who, seen))  # type: ignore[misc]
        if asked is not None:
            told = await _asked(call, shop, seen, asked)
            if told is not None:
                return document({**_seen(seen), "waits_for_person": told})
        elif not (seen.busy or seen.queued):
            return document(_seen(seen))
        if time.monotonic() > until:
            return document({**_seen(seen), "next": "Still working. Call forge_wait_project again."})
        await call.telling(seen.label or seen.phase, asyncio.sleep(_LOOK_AGAIN))


async def _asked(call: Call, shop: Workshop, seen: ProjectView, asked: Asked) -> Json | None:
    """What to tell the agent; None where the person answered, so that the project continues."""
    from forge.app.projects.person_questions import take_answers  # noqa: PLC0415
    from forge.mcp.elicitation import Form, Page  # noqa: PLC0415

    url = f"{call.web}/projects/{seen.id}" if call.web else None
    where = url or f"`forge project show {seen.id}`"
    told = {"question": asked.text, "next": f"Only the person can answer: {where}. Then call forge_wait_project again."}
    if call.asker is None or "run" not in call.who.scopes:
        return told
    title = f"Forge project {seen.name}"
    if asked.fields:
        fields = {each.name: _field(each) for each in asked.fields}
        # Of several a person may answer some.
        required = tuple(fields) if len(fields) == 1 else ()
        given = await call.asker.ask(Form(asked.id, f"{title} asks:\n{asked.text}", fields, required))
        words = {name: str(text) for name, text in ((given and given.content) or {}).items() if text is not None}
        if given is None or given.action != "accept" or not any(text.strip() for text in words.values()):
            return told if given is None else {**told, "person": f"They chose to {given.action}."}
        await take_answers(shop, call.who, seen.id, asked, words, via=call.agent_name)
        return None
    if url is not None:
        went = await call.asker.ask(Page(asked.id, f"{title} needs your decision:\n{asked.text}", url))
        return told if went is None else {**told, "person": f"They were shown {url} ({went.action})."}
    return told


def _field(field: Field) -> Json:
    kind: Json = {"type": "string", "title": field.text[:200]}
    if field.options:
        return {**kind, "enum": list(field.options)}
    proposed = {"description": f"Such as: {', '.join(field.suggested)}"} if field.suggested else {}
    return {**kind, **proposed}


TOOLS = (
    Tool("forge_list_projects", "List projects", "Projects with id, name and phase.", _list),
    Tool(
        "forge_get_project",
        "Show a project",
        "The state of a project, and what it waits for.",
        _show,
        {"project": PROJECT},
    ),
    Tool(
        "forge_read_document",
        "Read a project document",
        "A document of a project (intent, spec, plan); without `name`, the list.",
        _read,
        {"project": PROJECT, "name": {"type": "string", "description": "Such as plan.md."}},
    ),
    Tool(
        "forge_message_project",
        "Message a project",
        "Add to what is said about a project. Cannot answer, confirm or approve: a person does.",
        _say,
        {"project": PROJECT, "text": {"type": "string", "minLength": 1, "maxLength": 100_000}},
        required=("text",),
        scope="run",
    ),
    Tool(
        "forge_wait_project",
        "Wait for a project",
        "Wait until a project's work is done or it needs its person, who is asked at their client or in Forge.",
        _wait,
        {"project": PROJECT},
        scope="run",
        is_long=True,
    ),
)
