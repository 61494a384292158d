"""The protocol server: lists the tools that a client chose and answers their calls. Both transports use it."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError

from forge import __version__
from forge.errors import ForgeError, InvalidInput
from forge.json_value import Json
from forge.mcp import tasks
from forge.mcp.call import Call
from forge.mcp.elicitation import InputNeeded, OfJob, OfRequest
from forge.mcp.jobs import Job, Jobs
from forge.mcp.subscriptions import Listening, Standing
from forge.mcp.text import failure
from forge.mcp.tool import Tool
from forge.mcp.toolsets import TOOLSETS

Context = ServerRequestContext[Any, Any]
INSTRUCTIONS = (
    "Forge: work on git branches without a checkout. You work for a person and never on the default branch. "
    "Begin a change with forge_write or forge_edit at a new branch name; it returns a draft handle: pass it as `at` "
    "to read, edit, run tests and diff your pending files. forge_commit makes one commit of the draft. "
    "Tell the person the branch; they review and merge it. forge_get_summary tells the contracts of the work. "
    "Errors say what to do next."
)
_NAMED = 30
_OF_FILES = ("content", "search", "replace")
T = TypeVar("T")
_log = logging.getLogger(__name__)


class NotText(InvalidInput):
    """An argument that no name, id or note can be."""

    code = "argument_not_text"


class Front(Protocol):
    """What a transport knows of a request: which tools it chose, and who calls for whom."""

    def tools(self, context: Context) -> Sequence[Tool]: ...

    def call(self, context: Context) -> Call: ...

    @property
    def jobs(self) -> Jobs: ...

    @property
    def seal(self) -> bytes:
        """The secret that protects what clients bring back."""


def create(front: Front) -> Server[Any]:
    async def list_tools(context: Context, params: object) -> types.ListToolsResult:
        del params
        return types.ListToolsResult(tools=[_listed(tool) for tool in _tools(front, context)])

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> Any:
        tools = {tool.name: tool for tool in _tools(front, context)}
        tool = tools.get(params.name)
        if tool is None:
            known = ", ".join(tools)
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool {params.name[:60]!r}. There are: {known}.")
        call = replace(front.call(context), tool=tool.name, asker=OfRequest(context, params))
        arguments = params.arguments or {}
        if tool.is_long and tasks.declared(context):
            return await tasks.begun(front.jobs, call.owner, lambda job: _as_task(tool, call, context, job, arguments))
        try:
            return await _called(tool, call, arguments)
        except InputNeeded as e:
            return e.result

    async def list_resources(context: Context, params: object) -> types.ListResourcesResult:
        del params
        from forge.mcp import resources  # noqa: PLC0415

        return types.ListResourcesResult(resources=await _guarded(resources.listed(front.call(context))))

    async def list_templates(context: Context, params: object) -> types.ListResourceTemplatesResult:
        del context, params
        from forge.mcp.resources import TEMPLATES  # noqa: PLC0415

        return types.ListResourceTemplatesResult(resource_templates=list(TEMPLATES))

    async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        from forge.mcp import resources  # noqa: PLC0415

        uri = str(params.uri)
        _refuse_broken(uri)
        return resources.contents(uri, await _guarded(resources.read(front.call(context), uri), uri=uri))

    async def list_prompts(context: Context, params: object) -> types.ListPromptsResult:
        del context, params
        from forge.mcp.prompts import PROMPTS  # noqa: PLC0415

        return types.ListPromptsResult(prompts=list(PROMPTS))

    async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        from forge.mcp.prompts import prompt  # noqa: PLC0415

        _refuse_broken(params.name, *(params.arguments or {}).values())
        return await _guarded(prompt(front.call(context), params.name, params.arguments or {}))

    async def listen(
        context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        return await listening(front.call(context), context, params)

    async def subscribe(context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        uri = str(params.uri)
        _refuse_broken(uri)
        await _guarded(standing.subscribe(front.call(context), context, uri), uri=uri)
        return types.EmptyResult()

    async def unsubscribe(context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        await standing.unsubscribe(context, str(params.uri))
        return types.EmptyResult()

    listening, standing = Listening(), Standing()
    server: Server[Any] = Server(
        "forge",
        version=__version__,
        title="Forge",
        instructions=INSTRUCTIONS,
        # Without it, the library makes the whole list anew for each call, to look whether headers repeat arguments.
        get_tool_input_schema=_schema,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=unsubscribe,
        on_subscriptions_listen=listen,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )
    tasks.add(server, front.jobs, lambda context: front.call(context).owner)
    server.middleware.append(_sealing(front))
    return server


def _sealing(front: Front) -> RequestStateBoundary:
    """What travels with a client is sealed: it opens for the same person, the same call, and a few minutes."""
    security = RequestStateSecurity(keys=[front.seal], bind_principal=lambda context: front.call(context).owner)
    return RequestStateBoundary(security, default_audience="forge")


async def _as_task(tool: Tool, call: Call, context: Context, job: Job, arguments: Json) -> types.CallToolResult:
    quiet = replace(call, asker=OfJob(context, job), is_task=True, progress=_no_progress)
    return await _called(tool, quiet, arguments)


async def _no_progress(done: float, total: float | None, message: str) -> None:
    """A task has none."""


def agent_name(context: Context) -> str:
    """How the client calls itself, as far as a commit can show it."""
    params = context.session.client_params
    name = params.client_info.name if params is not None else ""
    return "".join(c for c in name if c.isprintable() and c not in "<>\"'")[:_NAMED].strip() or "mcp"


async def _guarded(work: Awaitable[T], **data: str) -> T:
    """What cannot be read or asked for is an error of the protocol, with what to do next."""
    try:
        return await work
    except ForgeError as e:
        raise MCPError(types.INVALID_PARAMS, failure(e), data or None) from e
    except MCPError:
        raise
    except Exception as e:
        _log.exception("A request broke.")
        raise MCPError(types.INTERNAL_ERROR, f"Internal error: {type(e).__name__}.") from e


def _schema(name: str) -> Json | None:
    tool = next((each for tools in TOOLSETS.values() for each in tools if each.name == name), None)
    return tool.schema if tool is not None else None


def _tools(front: Front, context: Context) -> Sequence[Tool]:
    try:
        return front.tools(context)
    except ForgeError as e:
        raise MCPError(types.INVALID_PARAMS, failure(e)) from e


def _listed(tool: Tool) -> types.Tool:
    """Title and hints are in the annotations; no output schema and no icons, which every request would pay for."""
    hints = types.ToolAnnotations(
        title=tool.title,
        read_only_hint=tool.read_only,
        destructive_hint=tool.destructive,
        idempotent_hint=tool.idempotent or tool.read_only,
    )
    return types.Tool(name=tool.name, description=tool.description, input_schema=tool.schema, annotations=hints)


async def _called(tool: Tool, call: Call, arguments: Json) -> types.CallToolResult:
    """Every failure is text that the agent can act on; the protocol's own errors are for broken requests."""
    from forge.app.access.identity import require  # noqa: PLC0415 - the first answer needs none of this
    from forge.app.values.arguments import checked_arguments  # noqa: PLC0415

    try:
        needed = tool.needs(arguments)
        require(call.who, needed)
        _refuse_no_text(arguments)
        given = checked_arguments(tool.schema, arguments)
        subject = _subject(given)
        text = await tool.run(call, given)
        if needed != "read":
            await call.host.note(call.who, tool.name, subject)
        return _result(text)
    except ForgeError as e:
        return _result(failure(e), failed=True)
    except InputNeeded:
        raise
    except Exception as e:  # noqa: BLE001 - the tool runner: a broken tool must not end the connection
        _log.exception("The tool %s broke.", tool.name)
        return _result(f"Internal error in {tool.name}: {type(e).__name__}. Try another way.", failed=True)


def _refuse_no_text(arguments: Json) -> None:
    """JSON can spell what no text has: half of a character, and where only files have it, a zero byte."""
    try:
        json.dumps(arguments, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise NotText("The arguments have half of a character.", hint="Send whole Unicode characters.") from None
    if "\\u0000" in json.dumps({name: value for name, value in arguments.items() if name not in _OF_FILES}):
        raise NotText("The arguments have a zero byte.", hint="Leave it out.")


def _refuse_broken(*values: str) -> None:
    try:
        _refuse_no_text(dict.fromkeys(values))
    except NotText as e:
        raise MCPError(types.INVALID_PARAMS, failure(e)) from e


def _subject(arguments: Json) -> str:
    named = next(
        (arguments[name] for name in ("at", "draft", "project", "project_id", "session") if arguments.get(name)), ""
    )
    return f"mcp:{str(named)[:100]}"


def _result(text: str, *, failed: bool = False) -> types.CallToolResult:
    # Names of files are bytes; JSON is text.
    sound = text.encode("utf-8", "replace").decode()
    return types.CallToolResult(content=[types.TextContent(type="text", text=sound)], is_error=failed)
