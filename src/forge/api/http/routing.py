"""Routes whose whole work, down to the bytes of the answer, is done in one change of threads.

The framework would check what a function gave in a second change, and write it out on the loop that everybody shares.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope


class _Router(APIRouter):
    """Knows at once that an address is not below its own; the framework would try each of its routes, twice."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if not scope["path"].startswith(f"/api{self.prefix.partition('{')[0]}"):
            return Match.NONE, {}
        return super().matches(scope)


class _Route(APIRoute):
    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        shape = options.get("response_model")
        if isinstance(shape, type) and issubclass(shape, BaseModel) and not inspect.iscoroutinefunction(endpoint):
            endpoint = _written(endpoint, shape, options.get("status_code") or 200)
        super().__init__(path, endpoint, **options)


def router_for(prefix: str = "", *, tag: str | None = None) -> APIRouter:
    return _Router(prefix=prefix, tags=[tag] if tag else None, route_class=_Route)


def methods_at(routers: Iterable[APIRouter], path: str) -> list[str]:
    """All methods of an address, and `HEAD` wherever there is `GET`."""
    below = path.removeprefix("/api")
    routes = (route for router in routers for route in router.routes if isinstance(route, APIRoute))
    found = {method for route in routes if route.path_regex.match(below) for method in route.methods or ()}
    return sorted(found | ({"HEAD"} if "GET" in found else set()))


def _written(endpoint: Callable[..., Any], shape: type[BaseModel], status: int) -> Callable[..., Any]:
    @functools.wraps(endpoint)
    def write(*args: Any, **options: Any) -> Response:
        found = endpoint(*args, **options)
        if isinstance(found, Response):
            return found
        return written(shape, found, status)

    return write


def written(shape: type[BaseModel], found: Any, status: int = 200) -> Response:
    body = shape.model_validate(found, from_attributes=True).model_dump_json(by_alias=True)
    return Response(body, status, media_type="application/json")
