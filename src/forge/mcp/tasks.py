"""The tasks extension of protocol 2026-07-28: a long call answers with a task, which the client looks at by its id."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from forge.errors import ForgeError
from forge.json_value import Json
from forge.mcp.jobs import KEPT, Job, JobMissing, Jobs, Work
from forge.mcp.text import failure

EXTENSION = "io.modelcontextprotocol/tasks"
_Context = ServerRequestContext[Any, Any]
_SHORT = 0.5
"""Seconds after which a call that is not over becomes a task."""
_POLL_MS = 1000
_log = logging.getLogger(__name__)


class GetTask(types.RequestParams):
    task_id: str


class UpdateTask(GetTask):
    input_responses: dict[str, Any]


def declared(context: _Context) -> bool:
    """Whether this request says that its client takes a task for an answer."""
    capabilities = context.session.client_capabilities
    return (
        context.protocol_version in MODERN_PROTOCOL_VERSIONS
        and capabilities is not None
        and EXTENSION in (capabilities.extensions or {})
    )


def require_declared(context: _Context) -> None:
    if not declared(context):
        data: Json = {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "This needs the tasks extension.", data)


async def begun(jobs: Jobs, owner: str, work: Work) -> Any:
    """The result of a short call, or the task that the call became."""
    try:
        job = jobs.begin(owner, work)
    except ForgeError as e:
        raise MCPError(types.INTERNAL_ERROR, failure(e)) from e
    try:
        await job.settled(_SHORT)
    except BaseException:
        # The client left before it knew of a task.
        job.cancel()
        jobs.forget(job)
        raise
    if job.state == "completed":
        jobs.forget(job)
        return job.result()
    return {"resultType": "task", **_seed(job)}


def add(server: Server[Any], jobs: Jobs, owner: Callable[[_Context], str]) -> None:
    """Serve the extension: `owner` says whose the tasks of a request are."""

    def found(context: _Context, params: GetTask) -> Job:
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            raise MCPError(types.METHOD_NOT_FOUND, "Tasks are an extension of protocol 2026-07-28.")
        _check_name(context, params.task_id)
        require_declared(context)
        try:
            return jobs.find(owner(context), params.task_id)
        except JobMissing as e:
            raise MCPError(types.INVALID_PARAMS, failure(e)) from e

    async def get(context: _Context, params: GetTask) -> Json:
        return _detailed(found(context, params))

    async def update(context: _Context, params: UpdateTask) -> Json:
        job = found(context, params)
        job.answer({key: each for key, value in params.input_responses.items() if (each := _response(value))})
        return {}

    async def cancel(context: _Context, params: GetTask) -> Json:
        found(context, params).cancel()
        return {}

    server.extensions[EXTENSION] = {}
    server.add_request_handler("tasks/get", GetTask, get)
    server.add_request_handler("tasks/update", UpdateTask, update)
    server.add_request_handler("tasks/cancel", GetTask, cancel)


def _check_name(context: _Context, task_id: str) -> None:
    """Over HTTP the header names the task, so that a proxy can route by it."""
    headers: Mapping[str, str] | None = getattr(context.request, "headers", None)
    if headers is not None and decode_header_value(headers.get(MCP_NAME_HEADER)) != task_id:
        raise MCPError(types.HEADER_MISMATCH, f"{MCP_NAME_HEADER} does not match the taskId of the request.")


def _response(value: Any) -> types.ElicitResult | None:
    """Forge asks for nothing but elicitation; what is no answer to that is left aside."""
    try:
        return types.ElicitResult.model_validate(value, by_name=False)
    except ValidationError:
        return None


def _seed(job: Job) -> Json:
    return {
        "taskId": job.id,
        "status": job.state,
        "createdAt": _time(job.created),
        "lastUpdatedAt": _time(job.updated),
        "ttlMs": int(KEPT * 1000),
        "pollIntervalMs": _POLL_MS,
    }


def _detailed(job: Job) -> Json:
    seed = _seed(job)
    match seed["status"]:
        case "completed":
            return {**seed, "result": _wire(job.result())}
        case "failed":
            return {**seed, "error": _error(job.error)}
        case "input_required":
            return {**seed, "inputRequests": {key: _wire(each) for key, each in job.requests.items()}}
    return seed


def _wire(value: Any) -> Any:
    return value.model_dump(mode="json", by_alias=True, exclude_none=True)


def _error(error: BaseException | None) -> Json:
    if isinstance(error, MCPError):
        return {"code": error.error.code, "message": error.error.message}
    _log.error("A task broke.", exc_info=error)
    return {"code": types.INTERNAL_ERROR, "message": f"Internal error: {type(error).__name__}."}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
