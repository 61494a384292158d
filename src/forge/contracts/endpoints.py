"""The operations that `physics` describes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

METHODS = ("get", "put", "post", "delete", "patch", "head", "options")


@dataclass(frozen=True, slots=True)
class Endpoint:
    method: str
    path: str
    operation: str
    summary: str
    responses: tuple[str, ...]
    is_public: bool
    """Whether it says that it needs no sign-in."""


def endpoints_of(physics: dict[str, Any]) -> Iterator[Endpoint]:
    """Those with an operation id, in the order of the document; whatever else is there is skipped."""
    for path, methods in _mapping(physics.get("paths")).items():
        for method, operation in _mapping(methods).items():
            given = _mapping(operation)
            name = given.get("operationId")
            if method in METHODS and isinstance(name, str):
                security = given.get("security", physics.get("security"))
                summary = given.get("summary") or given.get("description") or ""
                codes = tuple(map(str, _mapping(given.get("responses"))))
                yield Endpoint(method, path, name, str(summary), codes, is_public=not security)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
