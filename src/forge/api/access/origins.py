"""Which names the server goes by, and from whose pages a browser may ask it for something."""

from __future__ import annotations

import re
from collections.abc import Iterable

from starlette.types import Scope

from forge.api.access.request_headers import values
from forge.errors import Denied, InvalidInput

_SAFE = {"GET", "HEAD", "OPTIONS"}
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?)(:[1-9][0-9]{0,4})?", re.ASCII)
_ORIGIN = re.compile(r"(https?)://([^/?#@\\\s]+)", re.ASCII)


class HostRefused(Denied):
    """The request was sent to a name that is not this server's."""

    code = "host_refused"
    status = 421


class OriginRefused(Denied):
    """The request comes from a page of another origin."""

    code = "origin_refused"
    status = 403


class AllowedHostInvalid(InvalidInput):
    code = "allowed_host_invalid"


class Origins:
    """The names of one server. Those of this machine are always among them."""

    def __init__(self, names: Iterable[str], *, port: int) -> None:
        self._hosts = _allowed(names, port)

    def checked_host(self, scope: Scope) -> str:
        # Only the header itself counts. What a proxy says about it, anybody could say.
        named = values(scope, b"host")
        host = named[0].lower() if len(named) == 1 else ""
        if _AUTHORITY.fullmatch(host) is None or host not in self._hosts:
            raise HostRefused(
                "This server does not go by that name.", hint="Open the address that `forge serve` prints."
            )
        return host

    def check(self, scope: Scope, host: str, *, has_cookie: bool) -> None:
        """A browser says from which page a request comes; where a cookie opens the door, it has to."""
        origins, sites = values(scope, b"origin"), values(scope, b"sec-fetch-site")
        is_socket = scope["type"] == "websocket"
        changes = is_socket or scope["method"] not in _SAFE
        ours = len(origins) == 1 and self._is_same_origin(origins[0], host)
        near = len(sites) == 1 and sites[0] in {"same-origin", "none"}
        foreign = (bool(origins) and not ours) or (bool(sites) and not near)
        unsaid = not ours and (is_socket or not near)
        if foreign or (has_cookie and changes and unsaid):
            raise OriginRefused(
                "This request comes from another page.",
                hint="Use Forge's own page, or send a key. Behind a proxy with TLS, allow the name with its scheme: "
                f"`server.allowed_hosts: [https://{host}]`.",
            )

    def by_https_only(self, scope: Scope) -> bool:
        """Whether a browser has no other way to where this request was sent. Call it when the host was checked."""
        host = values(scope, b"host")[0].lower()
        return scope.get("scheme") in {"https", "wss"} or self._hosts[host] == {"https"}

    def _is_same_origin(self, origin: str, host: str) -> bool:
        match = _ORIGIN.fullmatch(origin.lower())
        return match is not None and match[2] == host and match[1] in self._hosts[host]


def _allowed(hosts: Iterable[str], port: int) -> dict[str, frozenset[str]]:
    """The names that this server goes by, as in a `Host` header, each with the schemes of its pages.

    Forge itself speaks http; whoever has a proxy with TLS in front says so with the name.
    """
    plain = frozenset({"http"})
    allowed = {f"{name}:{port}": plain for name in ("127.0.0.1", "localhost", "[::1]")}
    if port == 80:
        allowed |= {name.removesuffix(":80"): plain for name in allowed}
    for given in hosts:
        scheme, _, name = given.strip().lower().rpartition("://")
        name = f"[{name}]" if name.count(":") > 1 and not name.startswith("[") else name
        match = _AUTHORITY.fullmatch(name)
        if match is None or scheme not in {"", "http", "https"}:
            raise AllowedHostInvalid(
                f"{given!r} is no host name.", hint="Write forge.example.org or https://forge.example.org."
            )
        for each in {name} if match[2] else {name, f"{name}:{port}"}:
            allowed[each] = allowed.get(each, frozenset()) | {scheme or "http"}
    return allowed
