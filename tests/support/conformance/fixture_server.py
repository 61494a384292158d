"""A server with one of everything, behind Forge's own endpoint, host check and origin check: `python -m … PORT`."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPError

from forge.api.access.origins import Origins
from forge.app.access.identity import LOCAL
from forge.errors import Denied
from forge.mcp import tasks
from forge.mcp.elicitation import OfJob
from forge.mcp.http import Endpoint, Receive, Scope, Send
from forge.mcp.jobs import Jobs
from forge.mcp.server import Context
from tests.support.conformance.fixture_tools import (
    BUS,
    IMAGE,
    LONG,
    NAME,
    ONLY_TASKS,
    PNG,
    TOOLS,
    embedded,
    form,
    text,
)

JOBS, OWNER = Jobs(), "conformance"
_OPEN = {"type": "object", "properties": {"prompt": {"type": "string"}, "message": {"type": "string"}}}
_RESOURCES = {
    "test://static-text": "text/plain",
    "test://static-binary": "image/png",
    "test://watched-resource": "text/plain",
}
_PROMPTS: dict[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}
_CONTEXT = form("What context should the prompt use?", context={"type": "string"})


async def list_tools(context: Context, params: object) -> types.ListToolsResult:
    del context, params
    return types.ListToolsResult(
        tools=[types.Tool(name=name, description=f"{name}.", input_schema=_OPEN) for name in (*TOOLS, *LONG)]
    )


async def call_tool(context: Context, params: types.CallToolRequestParams) -> Any:
    long = LONG.get(params.name)
    if long is not None:
        if params.name in ONLY_TASKS:
            tasks.require_declared(context)
        if params.name == "test_tool_with_task" and not params.input_responses:
            return types.InputRequiredResult(input_requests={"user_name": NAME}, request_state="named")
        if tasks.declared(context):
            return await tasks.begun(JOBS, OWNER, lambda job: long(params, OfJob(context, job)))
        return await long(params, None)
    tool = TOOLS.get(params.name)
    if tool is None:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool {params.name!r}.")
    return await tool(context, params)


async def list_resources(context: Context, params: object) -> types.ListResourcesResult:
    del context, params
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri=uri, name=uri.rpartition("/")[2], description=f"{uri}.", mime_type=kind)
            for uri, kind in _RESOURCES.items()
        ]
    )


async def list_templates(context: Context, params: object) -> types.ListResourceTemplatesResult:
    del context, params
    template = types.ResourceTemplate(
        name="data", uri_template="test://template/{id}/data", description="Data.", mime_type="application/json"
    )
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    del context
    uri = str(params.uri)
    found: types.TextResourceContents | types.BlobResourceContents
    if uri == "test://static-binary":
        found = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
    elif uri in _RESOURCES:
        found = types.TextResourceContents(
            uri=uri, mime_type="text/plain", text="This is the content of the static text resource."
        )
    elif uri.startswith("test://template/") and uri.endswith("/data"):
        id_ = uri.removeprefix("test://template/").removesuffix("/data")
        body = f'{{"id":"{id_}","templateTest":true,"data":"Data for ID: {id_}"}}'
        found = types.TextResourceContents(uri=uri, mime_type="application/json", text=body)
    else:
        raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})
    return types.ReadResourceResult(contents=[found])


async def list_prompts(context: Context, params: object) -> types.ListPromptsResult:
    del context, params
    prompts = [
        types.Prompt(
            name=name,
            description=f"{name}.",
            arguments=[types.PromptArgument(name=each, description=f"{each}.", required=True) for each in arguments],
        )
        for name, arguments in _PROMPTS.items()
    ]
    return types.ListPromptsResult(prompts=prompts)


async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> Any:
    del context
    given = params.arguments or {}
    content: list[types.ContentBlock]
    match params.name:
        case "test_simple_prompt":
            content = [text("This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            content = [text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")]
        case "test_prompt_with_embedded_resource":
            uri = given.get("resourceUri", "test://none")
            body = embedded(uri, "text/plain", "Embedded resource content for testing.")
            content = [body, text("Please process the embedded resource above.")]
        case "test_prompt_with_image":
            content = [IMAGE, text("Please analyze the image above.")]
        case "test_input_required_result_prompt":
            answer = (params.input_responses or {}).get("user_context")
            if not isinstance(answer, types.ElicitResult):
                return types.InputRequiredResult(input_requests={"user_context": _CONTEXT})
            content = [text(f"In the context of {answer.content}.")]
        case _:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt {params.name!r}.")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=each) for each in content])


async def complete(context: Context, params: object) -> types.CompleteResult:
    del context, params
    return types.CompleteResult(completion=types.Completion(values=["paris", "park", "party"], total=3, has_more=False))


async def accepted(context: Context, params: object) -> types.EmptyResult:
    del context, params
    return types.EmptyResult()


def made() -> Server[Any]:
    fresh = CacheHint(ttl_ms=60_000, scope="private")
    server: Server[Any] = Server(
        "forge-conformance",
        version="1",
        cache_hints={
            "tools/list": fresh,
            "prompts/list": fresh,
            "resources/list": fresh,
            "resources/templates/list": fresh,
            "resources/read": fresh,
        },
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=accepted,
        on_unsubscribe_resource=accepted,
        on_subscriptions_listen=ListenHandler(BUS),
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_set_logging_level=accepted,
    )
    tasks.add(server, JOBS, lambda context: OWNER)
    security = RequestStateSecurity(keys=[b"of the conformance fixture alone"])
    server.middleware.append(RequestStateBoundary(security, default_audience="forge-conformance"))
    return server


class Guarded:
    """As the gate of a server does it, without keys."""

    def __init__(self, port: int) -> None:
        self._origins = Origins((), port=port)
        self._endpoint = Endpoint(made(), identified=lambda scope: LOCAL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            self._origins.check(scope, self._origins.checked_host(scope), has_cookie=False)
        except Denied as e:
            await send({"type": "http.response.start", "status": getattr(e, "status", 403), "headers": []})
            await send({"type": "http.response.body", "body": e.message.encode()})
            return
        await self._endpoint(scope, receive, send)


def main(port: int) -> None:
    config = uvicorn.Config(Guarded(port), host="127.0.0.1", port=port, lifespan="off", log_level="warning")
    asyncio.run(uvicorn.Server(config).serve())


if __name__ == "__main__":
    main(int(sys.argv[1]))
