"""Memory for agents: read in the protocol's order, and written layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forge.errors import InvalidInput
from forge.json_value import Json
from forge.mcp.call import Call
from forge.mcp.text import document
from forge.mcp.tool import Tool
from forge.mcp.toolsets.projects import PROJECT, project_id

if TYPE_CHECKING:
    from forge.app.admin.memory import Memory, Recalled, UpdateResult

_LAST = 20
_NEEDS = {"checkpoint": ("done", "next"), "status": ("status",)}


async def _read(call: Call, arguments: Json) -> str:
    from forge.app.admin.memory import open_memory  # noqa: PLC0415 - loads projects
    from forge.app.projects.project_memory import recalled  # noqa: PLC0415

    directory = call.host.directory
    if directory is not None and not (arguments.get("project") or call.defaults.project):
        return _told(await call.in_thread(lambda: open_memory(directory).read()))
    shop, id_ = await project_id(call, arguments)
    return _told(await call.in_thread(lambda: recalled(shop, call.who, id_)))


async def _write(call: Call, arguments: Json) -> str:
    from forge.app.admin.memory import open_memory  # noqa: PLC0415
    from forge.app.projects.project_memory import change  # noqa: PLC0415

    kind = arguments["kind"]
    missing = [name for name in _NEEDS.get(kind, ()) if name not in arguments]
    if missing:
        raise InvalidInput(f"A {kind} needs `{'` and `'.join(missing)}`.")

    def act(memory: Memory) -> UpdateResult:
        return _acted(memory, kind, arguments)

    directory = call.host.directory
    shop = await call.host.shop()
    if directory is not None and not (arguments.get("project") or call.defaults.project):
        secrets = shop.settings.secret_values()
        done = await call.in_thread(lambda: act(open_memory(directory, secrets=secrets)))
    else:
        shop, id_ = await project_id(call, arguments)
        done = await call.in_thread(lambda: change(shop, call.who, id_, kind, act))
    notes = "".join(f"\nNote: {each.message} {each.hint}".rstrip() for each in done.warnings)
    return f"Remembered.{notes}"


def _acted(memory: Memory, kind: str, arguments: Json) -> UpdateResult:
    from forge.app.admin.memory import status_named  # noqa: PLC0415

    text = arguments["text"]
    match kind:
        case "checkpoint":
            return memory.advance(arguments["done"], arguments["next"], text)
        case "completion":
            return memory.complete(text)
        case "status":
            return memory.change_status(status_named(arguments["status"]), reason=text)
        case "delegation":
            return memory.delegate(text)
        case _:
            return memory.learn(text)


def _told(found: Recalled) -> str:
    now = found.initiative
    told: Json = {"source": found.source, "warnings": [each.message for each in found.warnings]}
    if now is not None:
        names = (
            "id",
            "title",
            "type",
            "status",
            "phase",
            "completed_phase",
            "context",
            "milestone",
            "reason",
            "outcome",
        )
        told["initiative"] = {name: value for name in names if (value := getattr(now, name))}
        told["initiative"]["milestones"] = [
            f"{each.id} {each.title}: {each.status} {each.done}/{each.total}" for each in now.milestones
        ]
    told["lines"] = [f"{each.kind.value}: {each.text}" for each in found.entries[-_LAST:]]
    return document(told)


TOOLS = (
    Tool(
        "forge_read_memory",
        "Read memory",
        "What is remembered of the work: session, files, notes, in that order.",
        _read,
        {"project": PROJECT},
    ),
    Tool(
        "forge_write_memory",
        "Write memory",
        "Remember one line: a phase change (done, next), the outcome, a learning, a status, work given to a sub-agent.",
        _write,
        {
            "kind": {"enum": ["checkpoint", "completion", "learning", "status", "delegation"]},
            "text": {"type": "string", "minLength": 1, "maxLength": 4000},
            "done": {"type": "string"},
            "next": {"type": "string"},
            "status": {"enum": ["in_progress", "blocked", "completed", "archived"]},
            "project": PROJECT,
        },
        required=("kind", "text"),
        scope="write",
    ),
)
