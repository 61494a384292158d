"""Contracts for agents: what a build is held to, one text at a time, and a scratchpad for what is worth keeping."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forge.errors import Denied, InvalidInput
from forge.json_value import Json
from forge.mcp.call import Call
from forge.mcp.session import SESSION, ProjectNeeded, Session, project_of, session_of
from forge.mcp.text import document
from forge.mcp.tool import Tool

if TYPE_CHECKING:
    from forge.app.projects.contract_reads import ContractLine, ContractReader

_TYPE: Json = {"type": "string", "description": "Such as blueprint."}
_PROJECT: Json = {"type": "string", "description": "Project id or session; the default's if left out."}
_LISTED = ("contract_type", "version", "size_chars", "updated_at")


class UserRefused(Denied):
    """A session for somebody else than the person whom the agent works for."""

    code = "session_user_refused"


async def _reader(call: Call, named: str | None, *, project_needed: bool = False) -> ContractReader:
    from forge.app.projects.contract_reads import ContractReader, Reader, build_scope  # noqa: PLC0415 - loads projects

    session = await session_of(call, named)
    reader = Reader(call.who, call.agent_name)
    if session.build is not None:
        build = session.build
        shop = await call.host.shop()
        scope = await call.in_thread(lambda: build_scope(shop, call.who, build))
        return await call.in_thread(lambda: ContractReader(shop, reader, build=scope))
    if session.project is None and not project_needed:
        return ContractReader(None, reader)
    shop, id_ = await project_of(call, named)
    return await call.in_thread(lambda: ContractReader(shop, reader, project=id_))


async def _summary(call: Call, arguments: Json) -> str:
    reader = await _reader(call, arguments.get("session"))
    found = await call.in_thread(reader.summary)
    lines = {each.name: each.line for each in await call.in_thread(reader.lines)}
    if found is None:
        note = "No project: these are templates. Pass `session`, or start the server with --project."
        return document({"project": None, "note": note, "contracts": lines})
    return document(
        {
            "project": found.project,
            "contracts": lines,
            "layers": list(found.layers),
            "invariants": list(found.invariants),
            "phases": found.phases,
        }
    )


async def _list(call: Call, arguments: Json) -> str:
    reader = await _reader(call, arguments.get("session"))
    return document({"contracts": [_listed(each) for each in await call.in_thread(reader.lines)]})


def _listed(each: ContractLine) -> Json:
    return {name: getattr(each, name) for name in ("name", "file", "format", "version", "size", "source")}


async def _get(call: Call, arguments: Json) -> str:
    reader = await _reader(call, arguments.get("session"))
    found = await call.in_thread(lambda: reader.contract(arguments["name"]))
    return document(
        {"name": found.contract_type, "source": found.source, "version": found.version, "content": found.content}
    )


async def _window(call: Call, arguments: Json) -> str:
    reader = await _reader(call, arguments.get("session"))
    found = await call.in_thread(lambda: reader.window(arguments["phase_number"]))
    return document({"phase_number": arguments["phase_number"], "source": found.source, "content": found.content})


async def _scratchpad(call: Call, arguments: Json) -> str:
    from forge.app.projects import scratchpad  # noqa: PLC0415

    operation, key, value = arguments["operation"], arguments.get("key"), arguments.get("value")
    shop, id_ = await project_of(call, arguments.get("session"))
    pad = scratchpad.Pad(id_, await _build(call, arguments.get("session")) or "")
    if operation == "list":
        keys = await call.in_thread(lambda: scratchpad.list_keys(shop, call.who, pad))
        return document({"keys": list(keys)})
    if key is None:
        raise InvalidInput(f"{operation} needs `key`.")
    if operation == "read":
        text = await call.in_thread(lambda: scratchpad.read_key(shop, call.who, pad, key))
        return document({"key": key, "value": text})
    if value is None:
        raise InvalidInput(f"{operation} needs `value`.")
    add = operation == "append"
    kept = await call.in_thread(lambda: scratchpad.write_key(shop, call.who, pad, key, value, append=add))
    return document({"key": key, "size": len(kept)})


async def _build(call: Call, named: str | None) -> str | None:
    from forge.app.projects.contract_reads import build_scope  # noqa: PLC0415

    build = (await session_of(call, named)).build
    if build is None:
        return None
    shop = await call.host.shop()
    return (await call.in_thread(lambda: build_scope(shop, call.who, build))).id


async def _project_contract(call: Call, arguments: Json) -> str:
    reader = await _reader(call, arguments.get("project_id"), project_needed=True)
    found = await call.in_thread(lambda: reader.contract(arguments["contract_type"]))
    names = ("content", "version", "contract_type", "project_id", "source")
    return document({name: getattr(found, name) for name in names})


async def _project_contracts(call: Call, arguments: Json) -> str:
    reader = await _reader(call, arguments.get("project_id"), project_needed=True)
    items = await call.in_thread(reader.project_contracts)
    return document({"items": [{name: getattr(each, name) for name in _LISTED} for each in items]})


async def _context(call: Call, arguments: Json) -> str:
    reader = await _reader(call, arguments.get("project_id"), project_needed=True)
    found = await call.in_thread(reader.context)
    return document(
        {
            "project": {"id": found.id, "name": found.name, "status": found.status},
            "contracts": [{name: getattr(each, name) for name in _LISTED} for each in found.contracts],
            "latest_batch": found.latest_batch,
            "build_count": found.build_count,
        }
    )


async def _build_contracts(call: Call, arguments: Json) -> str:
    from forge.app.projects.contract_reads import ContractReader, Reader, build_scope  # noqa: PLC0415

    wanted = arguments.get("build_id") or call.defaults.build
    if wanted is None:
        raise ProjectNeeded("Name a build: `build_id`.", hint="forge_get_project_context shows the latest batch.")
    shop = await call.host.shop()
    scope = await call.in_thread(lambda: build_scope(shop, call.who, wanted.removeprefix("session~")))
    reader = ContractReader(shop, Reader(call.who, call.agent_name), build=scope)
    found = await call.in_thread(lambda: reader.build_contracts(arguments.get("types", ())))
    return document(
        {
            "build_id": found.build_id,
            "batch": found.batch,
            "pinned_at": found.pinned_at,
            "contracts": [{"contract_type": kind.value, "content": text} for kind, text in found.contracts],
        }
    )


async def _set_session(call: Call, arguments: Json) -> str:
    from forge.app.projects.lookup import project_for  # noqa: PLC0415

    user, build = arguments.get("user_id"), arguments.get("build_id")
    if user is not None and user not in (call.who.id, call.who.name):
        raise UserRefused("A session is for the person whose key you use.", hint="Leave out `user_id`.")
    shop, id_ = await project_of(call, arguments["project_id"])
    await call.in_thread(lambda: project_for(shop, call.who, id_))
    if build is not None:
        named = Session(build=build).handle
        if (await project_of(call, named))[1] != id_:
            raise InvalidInput(f"{build[:100]!r} is not a build of {id_}.", hint="Leave out `build_id`.")
        build = await _build(call, named)
        if build is None:
            raise InvalidInput(f"{id_} is a project, not a build.", hint="A build is PROJECT@BATCH.")
    session = Session(id_, build)
    return document({"session": session.handle, "project_id": id_, "build_id": build})


TOOLS = (
    Tool(
        "forge_get_summary",
        "Summarize the contracts",
        "What the project's contracts say, one line each, with layers and invariants. Call it first.",
        _summary,
        {"session": SESSION},
    ),
    Tool(
        "forge_get_contract",
        "Read a contract",
        "Read one contract whole: pinned, the project's or the template, as `source` says.",
        _get,
        {"name": {"type": "string", "description": "Such as stack, or builder_contract."}, "session": SESSION},
        required=("name",),
    ),
    Tool(
        "forge_list_contracts",
        "List the contracts",
        "Name, file, format, version and size of every contract.",
        _list,
        {"session": SESSION},
    ),
    Tool(
        "forge_get_phase_window",
        "Read a phase",
        "A phase of the plan and the next one. Call it when a phase begins.",
        _window,
        {"phase_number": {"type": "integer", "description": "From 0."}, "session": SESSION},
        required=("phase_number",),
    ),
    Tool(
        "forge_scratchpad",
        "Use the scratchpad",
        "Notes that outlive your context: decisions, known problems. contracts_read lists what was read.",
        _scratchpad,
        {
            "operation": {"enum": ["read", "write", "append", "list"]},
            "key": {"type": "string"},
            "value": {"type": "string", "maxLength": 100_000},
            "session": SESSION,
        },
        required=("operation",),
        scope="write",
        reads={"operation": ("read", "list")},
    ),
    Tool(
        "forge_get_project_contract",
        "Read a project's contract",
        "Read one contract of a project.",
        _project_contract,
        {"contract_type": _TYPE, "project_id": _PROJECT},
        required=("contract_type",),
    ),
    Tool(
        "forge_list_project_contracts",
        "List a project's contracts",
        "Contracts that a project has, with version, size and time.",
        _project_contracts,
        {"project_id": _PROJECT},
    ),
    Tool(
        "forge_get_project_context",
        "Show a project's context",
        "A project's status, its contracts without their texts, and its newest pinned batch.",
        _context,
        {"project_id": _PROJECT},
    ),
    Tool(
        "forge_get_build_contracts",
        "Read a build's contracts",
        "The contracts pinned for a build; `types` names those you need.",
        _build_contracts,
        {
            "build_id": {"type": "string", "description": "PROJECT@BATCH."},
            "types": {"type": "array", "items": {"type": "string"}, "maxItems": 9},
        },
    ),
    Tool(
        "forge_set_session",
        "Choose project and build",
        "Returns a handle for a project and build: pass it as `session` or `project_id`.",
        _set_session,
        {
            "project_id": {"type": "string"},
            "build_id": {"type": "string"},
            "user_id": {"type": "string", "description": "You need not."},
        },
        required=("project_id",),
        idempotent=True,
    ),
)
