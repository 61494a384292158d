"""The HTTP application: the routes of all nouns behind the gate, with one shape for errors and one documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.types import Scope

from forge import __version__
from forge.api import mcp_endpoint
from forge.api.access.gate import SIGN_IN, Access, Gate
from forge.api.http import problems
from forge.api.http.bodies import LARGE, SMALL, TINY, UPLOAD, BodyLimit, LastResort
from forge.api.http.head_requests import Heads
from forge.api.http.routing import methods_at
from forge.api.openapi.additions import complete
from forge.api.routes import (
    access,
    agent_context,
    contract_generation,
    contracts,
    environments,
    events,
    explore,
    files,
    history,
    house,
    memory,
    merges,
    notes,
    project_files,
    projects,
    remotes,
    repositories,
    sessions,
    terminals,
    test_runs,
    tools,
)
from forge.api.static_files import Pages
from forge.app.process.workshop import Workshop

_ROUTES = (
    projects,
    project_files,
    contract_generation,
    contracts,
    notes,
    explore,
    files,
    history,
    merges,
    sessions,
    terminals,
    test_runs,
    remotes,
    repositories,
    environments,
    house,
    memory,
    access,
    agent_context,
    events,
    tools,
)
_UPLOAD = re.compile(r"/api/(projects/[^/]+/resources|repositories/[^/]+/session/attachments)")
_FILE = re.compile(r"/api/(repositories/[^/]+/files|projects/[^/]+/papers)/[\s\S]+")
_ABOUT = """\
Everything that Forge does, for programs. Sign in with a cookie (`POST /api/sign-in`) or send a key as
`Authorization: Bearer`. Errors are problem JSON: switch on `code`. Lists take `after` and `limit`; with
`Accept: application/x-ndjson` they come whole, one item a line. What happens is told by `GET /api/events` and live by
the WebSocket `/api/stream`."""


def create(shop: Workshop, gate: Gate, *, static: Path | None) -> FastAPI:
    """`static` holds the files of the web interface, if there are any."""
    app = FastAPI(
        title="Forge",
        version=__version__,
        description=_ABOUT,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        # An address with a slash too many is none; to be sent elsewhere would lead from https to http behind a proxy.
        redirect_slashes=False,
        generate_unique_id_function=_operation_id,
    )
    app.state.shop = shop
    app.state.gate = gate
    for module in _ROUTES:
        app.include_router(module.router, prefix="/api")
    app.router.routes.extend(mcp_endpoint.routes(shop))
    problems.install(app, lambda path: methods_at([module.router for module in _ROUTES], path))
    _document(app)
    # The last one added is the first that a request meets.
    app.add_middleware(Heads)
    app.add_middleware(Pages, gate=gate, static=static)
    app.add_middleware(BodyLimit, limit_of=_limit_of)
    app.add_middleware(Access, gate=gate)
    app.add_middleware(LastResort, redacted=shop.redactor.text)
    return app


def _operation_id(route: APIRoute) -> str:
    return route.name


def _limit_of(scope: Scope) -> int:
    if _FILE.fullmatch(scope["path"]):
        return LARGE
    if scope["path"] == SIGN_IN:
        return TINY
    return UPLOAD if _UPLOAD.fullmatch(scope["path"]) else SMALL


def _document(app: FastAPI) -> None:
    made = app.openapi

    def openapi() -> dict[str, Any]:
        fresh = app.openapi_schema is None
        document = made()
        if fresh:
            complete(document, cookie_name=app.state.gate.cookie_name)
        return document

    app.openapi = openapi  # type: ignore[method-assign]
