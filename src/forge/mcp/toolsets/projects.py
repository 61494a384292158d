"""Projects for agents: list them, see where one stands, read its documents, tell it something. No decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forge.json_value import Json
from forge.mcp.call import Call
from forge.mcp.session import project_of
from forge.mcp.text import document
from forge.mcp.tool import Tool

if TYPE_CHECKING:
    from forge.app.process.workshop import Workshop
    from forge.app.projects.view import ProjectView

PROJECT: Json = {"type": "string", "description": "Project id; the session's if left out."}
_LISTED = 100
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


TOOLS = (
    Tool("forge_list_projects", "List projects", "Projects with id, name and phase.", _list),
    Tool(
        "forge_get_project",
        "Show a project",
        "Where a project stands, and what it waits for.",
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
)
