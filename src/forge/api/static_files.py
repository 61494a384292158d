"""What is not the API: the files of the web interface, or a plain page that says how to use the API without one."""

from __future__ import annotations

import mimetypes
import os
import re
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from forge.api.access.gate import Gate
from forge.api.access.request_headers import is_api
from forge.api.http.problems import problem
from forge.errors import Denied

_PLAIN = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Forge</title></head>
<body><main><h1>Forge</h1>
<p>{said}</p>
<p>The API is at <a href="/api/openapi.json">/api/openapi.json</a>. Programs send a key:
<code>Authorization: Bearer …</code>. <code>forge key new</code> makes one.</p></main></body></html>
"""
_HERE = "The server runs. This build has no web interface in it; in a checkout, <code>script/web</code> builds one."
_REFUSED = "This address was used before, or has expired. Run <code>forge serve</code> again for a new one."
_PLACE = re.compile("/(r|projects)/[0-9A-Za-z-]+")
"""Where an address may lead at once: a repository or a project, and no other site."""
_ASSETS = "/assets/"
"""Their names change with their contents."""
_LASTING = "public, max-age=31536000, immutable"


class Pages:
    """Answers whatever is neither the API nor MCP; the rest goes to those."""

    def __init__(self, app: ASGIApp, *, gate: Gate, static: Path | None) -> None:
        self._app = app
        self._gate = gate
        self._static = static.resolve() if static is not None and static.is_dir() else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] != "http" or is_api(scope):
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        if request.method not in ("GET", "HEAD"):
            response: Response = problem(405, "method_not_allowed", "Pages are read only.", headers={"Allow": "GET"})
        elif path == "/" and (token := request.query_params.get("token")) and not token.startswith("fk_"):
            response = await self._signed_in(request, token)
        else:
            packed = "gzip" in request.headers.get("accept-encoding", "")
            response = await run_in_threadpool(self._page, path, packed=packed)
        await response(scope, receive, send)

    async def _signed_in(self, request: Request, token: str) -> Response:
        """The token leaves the address at once: it must stay in no history."""
        try:
            admitted = await run_in_threadpool(self._gate.sign_in, token, request.scope)
        except Denied:
            return HTMLResponse(_PLAIN.format(said=_REFUSED), 401)
        headers = {"Set-Cookie": admitted.cookie or "", "Cache-Control": "no-store"}
        place = request.query_params.get("next", "")
        return RedirectResponse(place if _PLACE.fullmatch(place) else "/", 303, headers=headers)

    def _page(self, path: str, *, packed: bool) -> Response:
        if self._static is None:
            if path == "/":
                return HTMLResponse(_PLAIN.format(said=_HERE))
            return _nothing()
        found = Path(os.path.normpath(self._static / path.lstrip("/")))
        inside = "\0" not in path and found.is_relative_to(self._static)
        if inside and _is_file_below(self._static, found):
            return _file(found, _LASTING if path.startswith(_ASSETS) else "no-cache", packed=packed)
        # All else is a place of the interface, which finds its way by itself; names of branches may have dots.
        index = self._static / "index.html"
        is_file = path.startswith(_ASSETS) or ("." in path and path.count("/") == 1)
        if is_file or not inside or not index.is_file():
            return _nothing()
        return _file(index, "no-cache", packed=packed)


def _is_file_below(folder: Path, found: Path) -> bool:
    try:
        return found.is_file() and found.resolve().is_relative_to(folder)
    except OSError:  # a name that no disk takes, or a place that is not ours to look at
        return False


def _file(path: Path, caching: str, *, packed: bool) -> Response:
    """The file, or the packed one beside it where there is one and the browser takes it."""
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    headers = {"Cache-Control": caching, "Vary": "Accept-Encoding"}
    beside = path.with_name(f"{path.name}.gz")
    if packed and beside.is_file():
        return FileResponse(beside, media_type=kind, headers=headers | {"Content-Encoding": "gzip"})
    return FileResponse(path, media_type=kind, headers=headers)


def _nothing() -> Response:
    return problem(404, "route_missing", "There is nothing at this address.", "Start at /.")
