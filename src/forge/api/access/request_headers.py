"""What a request says in its headers, read so that what is said twice is not believed."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.types import Scope

_GUARDED = "/api"
MCP = "/mcp"
"""Where agents speak MCP."""
_WELL_KNOWN = "/.well-known/oauth-protected-resource"
METADATA = (_WELL_KNOWN + MCP, _WELL_KNOWN)
"""Open to all: they say how to come in."""


def values(scope: Scope, name: bytes) -> list[str]:
    """Of every header of that name."""
    return [value.decode("latin-1").strip() for each, value in scope["headers"] if each.lower() == name]


def bearer(scope: Scope) -> str | None:
    """What is after `Bearer`. Where several say different things, none is believed, and no cookie either."""
    found = [value.split(None, 1) for value in values(scope, b"authorization")]
    bearers = [words[1] if len(words) == 2 else "" for words in found if words and words[0].lower() == "bearer"]
    return None if not bearers else bearers[0] if len(found) == 1 else ""


def cookies(scope: Scope) -> Iterator[tuple[str, str]]:
    for line in values(scope, b"cookie"):
        for pair in line.split(";"):
            name, _, value = pair.strip().partition("=")
            yield name, value


def is_api(scope: Scope) -> bool:
    return bool(scope["path"] in (_GUARDED, MCP, *METADATA) or scope["path"].startswith(f"{_GUARDED}/"))


def is_mcp(scope: Scope) -> bool:
    return bool(scope["type"] == "http" and scope["path"] == MCP)


def sender(scope: Scope) -> str:
    """The address that the connection comes from; a proxy's, where there is one in front."""
    client = scope.get("client")
    return str(client[0]) if client else ""
