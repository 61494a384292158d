"""What stands around every request: a limit on its body, and the last resort for mistakes of Forge's own."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from forge.api.http.problems import problem
from forge.api.http.security_headers import hardened

TINY = 64 << 10
"""From people who are not signed in."""
SMALL = 4 << 20
LARGE = 50 * 1_000_000
"""A file as it is."""
UPLOAD = LARGE + SMALL
"""A file, and what multipart puts around it."""
_HEARD_OUT = 8 << 20
_LOG = logging.getLogger("forge.api")


class BodyLimit:
    """Refuses a body that is larger than allowed: at once if it says so, else as soon as it shows."""

    def __init__(self, app: ASGIApp, *, limit_of: Callable[[Scope], int]) -> None:
        self._app = app
        self._limit_of = limit_of

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limit_of(scope)
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if declared.isdigit() and int(declared) > limit:
            # Closed, because the rest of the body is not going to be read.
            refused = problem(413, "body_too_large", f"The limit is {limit} bytes.", "Send less at once.")
            refused.headers["Connection"] = "close"
            await refused(scope, receive, send)
            return
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken <= limit:
                return message
            # Who is still sending would miss the answer if the connection were closed at once.
            while message.get("more_body") and taken < limit + _HEARD_OUT:
                message = await receive()
                taken += len(message.get("body", b""))
            raise HTTPException(413, headers={"Connection": "close"})

        await self._app(scope, counted, send)


class LastResort:
    """A mistake of Forge's own is logged without secrets; who asked learns only that it happened."""

    def __init__(self, app: ASGIApp, *, redacted: Callable[[str], str]) -> None:
        self._app = app
        self._redacted = redacted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def noticed(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noticed)
        except Exception as error:  # noqa: BLE001 - the last handler: nothing above it could tell anybody
            _LOG.error("%s", self._redacted("".join(traceback.format_exception(error))))
            if scope["type"] != "http" or begun:
                # The answer is half sent, or a stream: only its breaking off can still be seen.
                raise ConnectionAbortedError("the answer was broken off") from None
            told = problem(500, "internal", "Something went wrong inside Forge.", "Try again; the log has the details.")
            await told(scope, receive, hardened(scope, send))
