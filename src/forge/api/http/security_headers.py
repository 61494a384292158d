"""The headers that every answer carries, so that no page of somebody else reads or frames it and no content runs."""

from __future__ import annotations

from starlette.types import Message, Scope, Send

from forge.api.access.request_headers import is_api

# The editor puts its styles into <style> elements, hence the exception for styles.
PAGE_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
API_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox"
"""What the API gives is data: a file of a repository that is opened in a tab runs nothing."""
# With a stricter referrer policy, browsers would send `Origin: null` for some requests of our own pages.
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


def hardened(scope: Scope, send: Send, *, cookie: str | None = None) -> Send:
    """`send`, with these headers put in, and `cookie` where the answer sets none of its own."""
    guarded = is_api(scope)
    policy = (API_POLICY if guarded else PAGE_POLICY).encode()

    async def sent(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            ours = dict(_HEADERS) | {b"content-security-policy": policy}
            given = [pair for pair in message.get("headers", ()) if not _is_replaced(pair[0].lower(), ours)]
            names = {name.lower() for name, _ in given}
            if guarded and b"cache-control" not in names:
                ours[b"cache-control"] = b"no-store"
            if cookie is not None and b"set-cookie" not in names:
                ours[b"set-cookie"] = cookie.encode()
            message = {**message, "headers": [*given, *ours.items()]}
        await send(message)

    return sent


def _is_replaced(name: bytes, ours: dict[bytes, bytes]) -> bool:
    # No page of another origin is ever let in, whatever a route believes.
    return name in ours or name.startswith(b"access-control-")
