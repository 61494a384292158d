"""Working papers and the notepad of a project, for agents."""

from __future__ import annotations

from forge.errors import InvalidInput
from forge.json_value import Json
from forge.mcp.call import Call
from forge.mcp.session import project_of
from forge.mcp.text import document
from forge.mcp.tool import Tool

_PROJECT: Json = {"type": "string", "description": "Project id or session; the default's if left out."}
_LARGEST = 2_000_000


async def _store(call: Call, arguments: Json) -> str:
    from forge.app.projects.papers import store_paper  # noqa: PLC0415 - loads projects

    shop, id_ = await project_of(call, arguments.get("project_id"))
    data = shop.redactor.text(arguments["content"]).encode()
    pinned = arguments.get("pinned", False)
    saved = await call.in_thread(lambda: store_paper(shop, call.who, id_, arguments["key"], data, pinned=pinned))
    return document({"key": saved.key, "size": saved.size, "expires": saved.expires})


async def _get(call: Call, arguments: Json) -> str:
    from forge.app.projects.papers import get_paper, list_papers  # noqa: PLC0415

    shop, id_ = await project_of(call, arguments.get("project_id"))
    key = arguments.get("key")
    if key is None:
        papers = await call.in_thread(lambda: list_papers(shop, call.who, id_))
        return document({"items": [{"key": e.key, "size": e.size, "expires": e.expires} for e in papers]})
    found, data = await call.in_thread(lambda: get_paper(shop, call.who, id_, key))
    try:
        text = data.decode() if len(data) <= _LARGEST else None
    except UnicodeDecodeError:
        text = None
    if text is None:
        raise InvalidInput(
            f"{found.key} is no text of up to {_LARGEST // 1_000_000} MB ({found.size:,} bytes).",
            hint="The person can download it from the project.",
        )
    return text


async def _notepad(call: Call, arguments: Json) -> str:
    from forge.app.projects.notes import show_note  # noqa: PLC0415

    shop, id_ = await project_of(call, arguments.get("project_id"))
    note = await call.in_thread(lambda: show_note(shop, call.who, id_))
    return note.text or "The notepad is empty."


TOOLS = (
    Tool(
        "forge_store_artifact",
        "Store a paper",
        "Store a working paper of a project for other agents. It is kept for 24 hours unless pinned.",
        _store,
        {
            "key": {"type": "string", "description": "Such as scout/dossier.md."},
            "content": {"type": "string", "maxLength": _LARGEST},
            "pinned": {"type": "boolean"},
            "project_id": _PROJECT,
        },
        required=("key", "content"),
        scope="write",
        destructive=True,
        idempotent=True,
    ),
    Tool(
        "forge_get_artifact",
        "Read a paper",
        "Read a working paper; without `key`, the list.",
        _get,
        {"key": {"type": "string"}, "project_id": _PROJECT},
    ),
    Tool(
        "forge_read_notepad",
        "Read the notepad",
        "What the person noted about a project.",
        _notepad,
        {"project_id": _PROJECT},
    ),
)
