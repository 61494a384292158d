"""Errors as problem JSON: one shape for everything that can go wrong, with a code to switch on and a next step."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from forge.api.http.hints import hint_for
from forge.errors import Conflict, Denied, ForgeError, InvalidInput, NotFound, Upstream

MEDIA_TYPE = "application/problem+json"
CLIENT, COMMAND_LINE = "Forge-Client", "cli"
"""A header and its value, by which a command asks for hints that name commands."""
_FAMILIES = {
    InvalidInput: 422,
    NotFound: 404,
    Conflict: 409,
    Denied: 403,
    Upstream: 502,
}
_TITLES = {
    400: "The request cannot be read",
    401: "Nobody is signed in",
    403: "Not allowed",
    404: "Not found",
    405: "This method is not possible here",
    406: "None of the accepted forms can be given",
    408: "The request took too long",
    409: "Conflict with the current state",
    412: "It was changed meanwhile",
    413: "The request is too large",
    415: "This media type cannot be read",
    416: "There is no such range",
    421: "This is not the host that was asked for",
    422: "The request is wrong",
    429: "Too many requests",
    431: "The headers are too large",
    500: "Forge made a mistake",
    502: "The disk, git or another program failed",
    503: "Not ready",
}
_BY_STATUS = {
    404: ("route_missing", "There is nothing at this address.", "GET /api/openapi.json lists all addresses."),
    405: ("method_not_allowed", "This address does not take this method.", "The `Allow` header names those it takes."),
    413: ("body_too_large", "The request is larger than allowed.", "Send less at once."),
}
MEDIA_TYPE_REFUSED = (
    "media_type_refused",
    "The body does not say that it is JSON.",
    "Send `Content-Type: application/json`.",
)
ALWAYS: Mapping[int, Sequence[str]] = {
    400: ("request_malformed",),
    401: ("sign_in_needed",),
    403: ("scope_missing", "origin_refused"),
    413: ("body_too_large",),
    422: ("request_invalid", "invalid_input"),
    429: ("rate_limited",),
    500: ("internal",),
}
"""Every operation may end so, whatever it does."""


class Problem(BaseModel):
    """What went wrong. Switch on `code`; `detail` and `hint` are for people."""

    type: str = Field(description="A name for this kind of problem, as a URI.")
    title: str
    status: int
    code: str
    detail: str
    hint: str = Field(description="What to do next.")
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:forge:problem:project_missing",
                    "title": "Not found",
                    "status": 404,
                    "code": "project_missing",
                    "detail": "There is no project '20261116-0001'.",
                    "hint": "GET /api/projects lists them.",
                }
            ]
        }
    )


def may_end(codes: Mapping[int, Sequence[str]] | None = None) -> dict[int | str, dict[str, Any]]:
    """For `responses=` of a route: the codes that it can end with, by status."""
    own = codes or {}
    every = {status: (*ALWAYS.get(status, ()), *own.get(status, ())) for status in (*ALWAYS, *own)}
    return {status: documented(status, tuple(dict.fromkeys(names))) for status, names in every.items()}


def documented(status: int, codes: Sequence[str]) -> dict[str, Any]:
    names = f": {', '.join(f'`{code}`' for code in codes)}" if codes else ""
    reference = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {"description": f"{_TITLES[status]}{names}.", "content": {MEDIA_TYPE: reference}}


def problem(
    status: int, code: str, detail: str, hint: str = "", *, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    content = document(status, code, detail, hint)
    return JSONResponse(content, status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def document(status: int, code: str, detail: str, hint: str = "") -> dict[str, Any]:
    title, hint = _TITLES.get(status, "It did not work"), hint_for(status, code, hint)
    told = {"title": title, "status": status, "code": code, "detail": _sendable(detail), "hint": _sendable(hint)}
    return {"type": f"urn:forge:problem:{code}", **told}


def status_of(error: ForgeError) -> int:
    """By its family, unless the error knows better."""
    own = getattr(error, "status", None)
    if isinstance(own, int):
        return own
    return next((status for family, status in _FAMILIES.items() if isinstance(error, family)), 500)


def _with_hint(told: JSONResponse, hint: str) -> JSONResponse:
    """A hint for the command line, as it is there: whoever sent this request shows it to a person at a terminal."""
    content = {**json.loads(bytes(told.body)), "hint": _sendable(hint)}
    return JSONResponse(content, told.status_code, media_type=MEDIA_TYPE)


def of_error(error: ForgeError, *, status: int | None = None) -> JSONResponse:
    headers = getattr(error, "headers", None)
    return problem(status or status_of(error), error.code, error.message, error.hint, headers=headers)


def install(app: FastAPI, methods_at: Callable[[str], Sequence[str]]) -> None:
    """`methods_at` names all that an address takes; a route knows only its own."""

    async def http_error(request: Request, error: Exception) -> Response:
        told = await _http_error(request, error)
        if told.status_code == 405:
            told.headers["Allow"] = ", ".join(methods_at(request.scope["path"]))
        return told

    app.add_exception_handler(ForgeError, _forge_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, http_error)


async def _forge_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ForgeError)
    if isinstance(error, Denied):
        await request.app.state.gate.note_refusal(error, request.scope, request.scope.get("state", {}).get("who"))
    told = of_error(error)
    if request.headers.get(CLIENT) == COMMAND_LINE and error.hint:
        return _with_hint(told, error.hint)
    return told


async def _invalid(request: Request, error: Exception) -> Response:
    """What was sent is never repeated: it may be a secret, and may be no text at all."""
    assert isinstance(error, RequestValidationError)
    faults = error.errors()
    if any(_is_unread(fault) for fault in faults) and not _is_json(request):
        return problem(415, *MEDIA_TYPE_REFUSED)
    if any(fault.get("type") == "json_invalid" for fault in faults):
        return problem(400, "request_malformed", "The body is not JSON.", "Send one JSON document.")
    told = "; ".join(f"{_place(fault)}: {_fault(fault)}" for fault in faults[:5])
    return problem(422, "request_invalid", f"{told}.", "GET /api/openapi.json says what is expected.")


def _is_unread(fault: Mapping[str, Any]) -> bool:
    """Whether the body was handed on as bytes, because it did not say that it is JSON."""
    return fault.get("loc") == ("body",) and isinstance(fault.get("input"), bytes)


def _is_json(request: Request) -> bool:
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return media_type == "application/json" or media_type.endswith("+json")


def _fault(fault: Mapping[str, Any]) -> str:
    said = str(fault.get("msg", "is wrong"))
    # The framework names its own class where something else than a file was sent.
    return "A file is expected" if "UploadFile" in said else said


def _place(fault: Mapping[str, Any]) -> str:
    return ".".join(str(part)[:80] for part in fault.get("loc", ()))


async def _http_error(request: Request, error: Exception) -> Response:
    del request
    assert isinstance(error, HTTPException)
    status = error.status_code
    known = _BY_STATUS.get(status, ("request_malformed" if status == 400 else "request_refused", error.detail, ""))
    code, detail, hint = known
    return problem(status, code, detail, hint, headers=error.headers)


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
