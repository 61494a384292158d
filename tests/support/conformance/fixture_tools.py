"""Tools of the conformance fixture: every kind of content, and every way to ask the client for something."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import mcp_types as types
from mcp.server.subscriptions import InMemorySubscriptionBus, PromptsListChanged, ServerEvent, ToolsListChanged
from mcp.shared.exceptions import MCPError

from forge.mcp.elicitation import Form, OfJob
from forge.mcp.server import Context

Result = types.CallToolResult | types.InputRequiredResult
Tool = Callable[[Context, types.CallToolRequestParams], Awaitable[Result]]
PNG = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415478"
        "9c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
    )
).decode()
WAV = base64.b64encode(b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0@\x1f\0\0\1\0\x08\0data\0\0\0\0").decode()
IMAGE = types.ImageContent(type="image", data=PNG, mime_type="image/png")


BUS = InMemorySubscriptionBus()


def text(value: str) -> types.TextContent:
    return types.TextContent(type="text", text=value)


def embedded(uri: str, mime_type: str, value: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(
        type="resource", resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=value)
    )


def fixed(*content: types.ContentBlock, failed: bool = False) -> Tool:
    async def run(context: Context, params: types.CallToolRequestParams) -> Result:
        del context, params
        return types.CallToolResult(content=list(content), is_error=failed)

    return run


def form(message: str, **properties: Any) -> types.ElicitRequest:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sampling(prompt: str, tokens: int) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=text(prompt))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[message], max_tokens=tokens))


NAME = form("What is your name?", name={"type": "string"})


def asking(requests: Mapping[str, Any], done: str, *, state: str | None = None) -> Tool:
    """Asks for all of `requests` until all are answered in the right form; `state` travels with the client."""

    async def run(context: Context, params: types.CallToolRequestParams) -> Result:
        del context
        given = params.input_responses or {}
        if all(_fits(request, given.get(key)) for key, request in requests.items()):
            if state is not None and params.request_state != state:
                raise MCPError(types.INVALID_PARAMS, "The state is missing.")
            return types.CallToolResult(content=[text(f"{done} {_words(given)}")])
        return types.InputRequiredResult(input_requests=dict(requests), request_state=state)

    return run


def _fits(request: Any, answer: Any) -> bool:
    if isinstance(request, types.ElicitRequest):
        wanted = request.params.requested_schema["required"] if hasattr(request.params, "requested_schema") else []
        content = answer.content or {} if isinstance(answer, types.ElicitResult) else None
        return content is not None and answer.action == "accept" and all(name in content for name in wanted)
    if isinstance(request, types.ListRootsRequest):
        return isinstance(answer, types.ListRootsResult)
    return answer is not None and hasattr(answer, "content") and hasattr(answer, "model")


def _words(given: Mapping[str, Any]) -> str:
    return " ".join(str(each.model_dump(mode="json", exclude_none=True)) for each in given.values())


def telling(event: ServerEvent) -> Tool:
    """As if a list had changed."""

    async def run(context: Context, params: types.CallToolRequestParams) -> Result:
        del context, params
        await BUS.publish(event)
        return types.CallToolResult(content=[text("Published.")])

    return run


async def multi_round(context: Context, params: types.CallToolRequestParams) -> Result:
    del context
    given = params.input_responses or {}
    steps = {
        "step1": form("Step 1: What is your name?", name={"type": "string"}),
        "step2": form("Step 2: What is your favorite color?", color={"type": "string"}),
    }
    step = "step2" if params.request_state in ("one", "two") and "step1" in given else "step1"
    if params.request_state == "two" and "step2" in given:
        return types.CallToolResult(content=[text("Both steps are done.")])
    return types.InputRequiredResult(
        input_requests={step: steps[step]}, request_state={"step1": "one", "step2": "two"}[step]
    )


async def by_capability(context: Context, params: types.CallToolRequestParams) -> Result:
    if params.input_responses:
        return types.CallToolResult(content=[text("Thank you.")])
    declared = context.session.client_capabilities
    requests: dict[str, Any] = {}
    if declared is not None and declared.sampling is not None:
        requests["greeting"] = sampling("Generate a greeting", 50)
    if declared is not None and declared.elicitation is not None:
        requests["user_name"] = NAME
    return types.InputRequiredResult(input_requests=requests)


async def needs_sampling(context: Context, params: types.CallToolRequestParams) -> Result:
    del params
    declared = context.session.client_capabilities
    if declared is None or declared.sampling is None:
        data = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool needs sampling.", data)
    return types.CallToolResult(content=[text("The client can sample.")])


async def with_progress(context: Context, params: types.CallToolRequestParams) -> Result:
    del params
    for done in (0, 50, 100):
        await context.session.report_progress(done, 100)
        await anyio.sleep(0.05)
    return types.CallToolResult(content=[text("Done.")])


async def with_log(context: Context, params: types.CallToolRequestParams) -> Result:
    del params
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await context.session.send_log_message("info", line, related_request_id=context.request_id)
        await anyio.sleep(0.05)
    return types.CallToolResult(content=[text("Logged.")])


async def sampled(context: Context, params: types.CallToolRequestParams) -> Result:
    prompt = str((params.arguments or {}).get("prompt", ""))
    message = types.SamplingMessage(role="user", content=text(prompt))
    answer = await context.session.create_message([message], max_tokens=100, related_request_id=context.request_id)
    said = answer.content.text if isinstance(answer.content, types.TextContent) else ""
    return types.CallToolResult(content=[text(f"LLM response: {said}")])


def eliciting(properties: Mapping[str, Any], label: str, *, required: bool = False) -> Tool:
    async def run(context: Context, params: types.CallToolRequestParams) -> Result:
        schema: dict[str, Any] = {"type": "object", "properties": dict(properties)}
        if required:
            schema["required"] = list(properties)
        message = str((params.arguments or {}).get("message", "Please fill in."))
        answer = await context.session.elicit_form(message, schema, related_request_id=context.request_id)
        return types.CallToolResult(content=[text(f"{label} action={answer.action}, content={answer.content}")])

    return run


_ENUM = ["option1", "option2", "option3"]
_TITLED = [{"const": f"value{n}", "title": f"{word} Option"} for n, word in enumerate(("First", "Second", "Third"), 1)]
_DEFAULTS = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
_ENUMS = {
    "untitledSingle": {"type": "string", "enum": _ENUM},
    "titledSingle": {"type": "string", "oneOf": _TITLED},
    "legacyEnum": {
        "type": "string",
        "enum": ["opt1", "opt2", "opt3"],
        "enumNames": ["Option One", "Option Two", "Option Three"],
    },
    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _ENUM}},
    "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
}
_CONFIRM = form("Please confirm", ok={"type": "boolean"})


def number(params: types.CallToolRequestParams, name: str) -> float:
    return float((params.arguments or {}).get(name, 0))


async def greet(context: Context, params: types.CallToolRequestParams) -> Result:
    del context
    return types.CallToolResult(content=[text(f"Hello, {(params.arguments or {}).get('name', '')}!")])


async def slow_compute(params: types.CallToolRequestParams, asker: OfJob | None) -> types.CallToolResult:
    del asker
    await anyio.sleep(number(params, "seconds"))
    return types.CallToolResult(content=[text(f"Computed for {number(params, 'seconds'):g} s.")])


async def failing_job(params: types.CallToolRequestParams, asker: OfJob | None) -> types.CallToolResult:
    del params, asker
    await anyio.sleep(1.2)
    return types.CallToolResult(content=[text("This job always fails.")], is_error=True)


async def protocol_error_job(params: types.CallToolRequestParams, asker: OfJob | None) -> types.CallToolResult:
    del params, asker
    await anyio.sleep(0.1)
    raise MCPError(types.INTERNAL_ERROR, "This job breaks.")


async def confirm_delete(params: types.CallToolRequestParams, asker: OfJob | None) -> types.CallToolResult:
    name = (params.arguments or {}).get("filename", "")
    assert asker is not None
    given = await asker.ask(Form("delete", f"Delete {name}?", {"confirm": {"type": "boolean"}}, ("confirm",)))
    return types.CallToolResult(content=[text(f"Deleted: {given}")])


async def multi_input(params: types.CallToolRequestParams, asker: OfJob | None) -> types.CallToolResult:
    del params
    assert asker is not None
    given = await asker.job.ask(NAME, form("Please confirm", confirm={"type": "boolean"}))
    return types.CallToolResult(content=[text(f"Got {len(given)} answers.")])


async def with_task(params: types.CallToolRequestParams, asker: OfJob | None) -> types.CallToolResult:
    del asker
    answer = (params.input_responses or {}).get("user_name")
    assert isinstance(answer, types.ElicitResult)
    await anyio.sleep(1.2)
    return types.CallToolResult(content=[text(f"Hello, {(answer.content or {}).get('name')}!")])


LongTool = Callable[[types.CallToolRequestParams, OfJob | None], Awaitable[types.CallToolResult]]
LONG: dict[str, LongTool] = {
    "slow_compute": slow_compute,
    "failing_job": failing_job,
    "protocol_error_job": protocol_error_job,
    "confirm_delete": confirm_delete,
    "multi_input": multi_input,
    "test_tool_with_task": with_task,
}
"""These become tasks where the client declared them."""
ONLY_TASKS = LONG.keys() - {"slow_compute"}
TOOLS: dict[str, Tool] = {
    "greet": greet,
    "test_simple_text": fixed(text("This is a simple text response for testing.")),
    "test_image_content": fixed(IMAGE),
    "test_audio_content": fixed(types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")),
    "test_embedded_resource": fixed(
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ),
    "test_multiple_content_types": fixed(
        text("Multiple content types test:"),
        IMAGE,
        embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
    "test_error_handling": fixed(text("This tool intentionally returns an error for testing"), failed=True),
    "test_tool_with_progress": with_progress,
    "test_tool_with_logging": with_log,
    "test_logging_tool": with_log,
    "test_sampling": sampled,
    "test_elicitation": eliciting(
        {"username": {"type": "string"}, "email": {"type": "string"}}, "User response:", required=True
    ),
    "test_elicitation_sep1034_defaults": eliciting(_DEFAULTS, "Elicitation completed:"),
    "test_elicitation_sep1330_enums": eliciting(_ENUMS, "Elicitation completed:"),
    "test_streaming_elicitation": asking({"user_name": NAME}, "Hello"),
    "test_trigger_tool_change": telling(ToolsListChanged()),
    "test_trigger_prompt_change": telling(PromptsListChanged()),
    "test_missing_capability": needs_sampling,
    "test_input_required_result_elicitation": asking({"user_name": NAME}, "Hello"),
    "test_input_required_result_sampling": asking(
        {"capital_question": sampling("What is the capital of France?", 100)}, "It is"
    ),
    "test_input_required_result_list_roots": asking({"client_roots": types.ListRootsRequest()}, "Roots:"),
    "test_input_required_result_request_state": asking({"confirm": _CONFIRM}, "state-ok", state="asked"),
    "test_input_required_result_tampered_state": asking({"confirm": _CONFIRM}, "state-ok", state="sealed"),
    "test_input_required_result_multiple_inputs": asking(
        {"user_name": NAME, "greeting": sampling("Generate a greeting", 50), "client_roots": types.ListRootsRequest()},
        "All:",
        state="many",
    ),
    "test_input_required_result_multi_round": multi_round,
    "test_input_required_result_capabilities": by_capability,
}
