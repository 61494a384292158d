"""Who gets in: by a cookie that a browser got for a one-time token or a key, or by `Authorization: Bearer`."""

from __future__ import annotations

import asyncio
import hmac
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from forge.api.access.connections import signed_in
from forge.api.access.cookies import Cookies, Session, remember
from forge.api.access.origins import Origins
from forge.api.access.request_headers import MCP, METADATA, bearer, is_api, is_mcp, sender, values
from forge.api.http.problems import of_error
from forge.api.http.security_headers import hardened
from forge.app.access.identity import LOCAL, Who, token_issued
from forge.app.access.signin_audit import Entries
from forge.app.access.users import Keys, Rates
from forge.errors import Denied, ForgeError

_TOKEN_LIFE = 86_400.0
SIGN_IN = "/api/sign-in"
_OPEN = {"/api/health", SIGN_IN, *METADATA}
_Find = Callable[[str], Who | None]


class SignInNeeded(Denied):
    """Nobody is signed in, or not any more."""

    code = "sign_in_needed"
    status = 401
    headers = {"WWW-Authenticate": 'Bearer realm="forge"'}  # noqa: RUF012 - never changed


class KeyNeeded(Denied):
    """An agent came without a key. The headers say where it learns how to come in."""

    code = "key_needed"
    status = 401

    def __init__(self, message: str, *, hint: str = "", metadata: str = "", refused: bool = False) -> None:
        super().__init__(message, hint=hint)
        error = 'error="invalid_token", ' if refused else ""
        self.headers = {"WWW-Authenticate": f'Bearer {error}scope="read write run", resource_metadata="{metadata}"'}


class KeyLimited(Denied):
    """The key opens one project alone, and this address is not part of it."""

    code = "key_limited"
    status = 403


class TokenRefused(Denied):
    """The token or key is wrong, or was used before."""

    code = "token_refused"
    status = 401


@dataclass(frozen=True, slots=True)
class Admitted:
    """Nobody, where the address is open to all. `cookie` is one to send back, if it is time for a new one."""

    who: Who | None
    cookie: str | None = None


class Gate:
    """One per server. Tokens that were made before it are worth nothing to it."""

    def __init__(
        self,
        secret: bytes,
        allowed_hosts: Iterable[str],
        keys: Keys,
        *,
        port: int,
        rates: Rates | None = None,
        local_key: str | None = None,
        entries: Entries | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """`local_key` lets processes of the person at this machine in, as `Authorization: Bearer`.

        Who came in and who was refused goes into `entries`.
        """
        self._secret = secret
        self._origins = Origins(allowed_hosts, port=port)
        self._cookies = Cookies(secret, port=port, now=now)
        self._keys = keys
        self._rates = rates or Rates()
        self._local_key = local_key
        self._entries = entries
        self._now = now
        self._started = now()
        self._used: dict[str, float] = {}
        self._waking: set[Callable[[], None]] = set()
        self._lock = threading.Lock()

    @property
    def cookie_name(self) -> str:
        return self._cookies.name

    def sign_in(self, token: str, scope: Scope) -> Admitted:
        """A session, for a one-time token or a key; `cookie` goes into a `Set-Cookie` header. Asks the database."""
        came_from = sender(scope)
        who = self._keys.verify(token) if token.startswith("fk_") else self._spent(token)
        if who is None:
            if self._entries is not None:
                self._entries.sign_in_refused(came_from)
            raise TokenRefused("This token or key opens nothing.", hint="`forge serve` prints a new address.")
        self.count(who)
        if self._entries is not None:
            self._entries.signed_in(who, came_from)
        return Admitted(who, self._cookies.begun(who.key or who.id, secure=self._origins.by_https_only(scope)))

    def sign_out(self, scope: Scope) -> str:
        """Ends the session of this request; the value of a `Set-Cookie` header that takes it from the browser."""
        was_in = self.session(scope) is not None
        taken = self._cookies.ended(scope)
        # Anybody may ask to be signed out; who was not in must not make every stream look.
        if was_in:
            self.look_again()
        return taken

    def identify(self, scope: Scope) -> Who | None:
        """Whose request it is, by its key or else its cookie. May ask the database."""
        who = self._identified(scope, self._keys.verify, self._keys.holder)
        if who is None and self._entries is not None and bearer(scope) is not None:
            self._entries.key_refused(sender(scope))
        return who

    def still_holds(self, scope: Scope) -> bool:
        """For long connections: whether what they came with still opens anything. May ask the database."""
        return self._identified(scope, self._keys.verify, self._keys.holder) is not None

    async def note_refusal(self, error: ForgeError, scope: Scope, who: Who | None) -> None:
        """In the audit, if it is one of those that are to be found there and the first of its minute."""
        if self._entries is not None and self._entries.refusal_is_due(who, error.code, sender(scope)):
            await asyncio.to_thread(self._entries.refused, who, error.code, sender(scope))

    def count(self, who: Who) -> None:
        """One request or message more; raises `RateLimited` where a key has made too many."""
        if who.key is not None:
            self._rates.take(who.key)

    def look_again(self) -> None:
        """What somebody may do was changed by this process: it shall hold at once, for long connections too."""
        self._keys.forget()
        with self._lock:
            waking = tuple(self._waking)
        for wake in waking:
            wake()

    @contextmanager
    def watched(self, wake: Callable[[], None]) -> Iterator[None]:
        """Meanwhile `wake` is called, by any thread, when it is time to ask `still_holds` again."""
        with self._lock:
            self._waking.add(wake)
        try:
            yield
        finally:
            with self._lock:
                self._waking.discard(wake)

    async def admit(self, scope: Scope) -> Admitted:
        """Lets a request pass or raises a `Denied`. The host is looked at before anything else."""
        host = self._origins.checked_host(scope)
        if is_mcp(scope):
            return await self._admit_agent(scope, host)
        is_open = scope["type"] == "http" and scope["path"] in _OPEN
        if scope["type"] == "http" and not is_api(scope) and scope["method"] in {"GET", "HEAD"}:
            return Admitted(None)
        who = self.remembered(scope) or await asyncio.to_thread(self.identify, scope)
        if who is None and not is_open:
            raise SignInNeeded(
                "Nobody is signed in.", hint="Open the address that `forge serve` prints, or send a key."
            )
        by_key = bearer(scope) is not None
        if not by_key or who is None:
            self._origins.check(scope, host, has_cookie=who is not None)
        if who is not None:
            await self._used_key(who, scope)
            if not is_open:
                _check_reach(who, scope["path"])
        return Admitted(
            who, None if by_key else self._cookies.renewed(scope, secure=self._origins.by_https_only(scope))
        )

    async def _admit_agent(self, scope: Scope, host: str) -> Admitted:
        """By a key alone: a cookie is a person's, and no page of another origin may use either."""
        self._origins.check(scope, host, has_cookie=False)
        metadata = f"{self._base(scope)}{METADATA[0]}"
        sent = bearer(scope) is not None
        who = (self.remembered(scope) or await asyncio.to_thread(self.identify, scope)) if sent else None
        if who is None:
            raise KeyNeeded(
                "Send a key: `Authorization: Bearer fk_…`.",
                hint="`forge key new USER` makes one.",
                metadata=metadata,
                refused=sent,
            )
        await self._used_key(who, scope)
        scope["state"] = {**scope.get("state", {}), "resource_metadata": metadata, "base": self._base(scope)}
        return Admitted(who)

    async def _used_key(self, who: Who, scope: Scope) -> None:
        if who.key is not None:
            self.count(who)
            if self._entries is not None and self._entries.is_due(who.key):
                await asyncio.to_thread(self._entries.key_used, who, sender(scope))

    def resource_metadata(self, scope: Scope) -> dict[str, object]:
        """What an MCP client learns before it comes in."""
        return {
            "resource": f"{self._base(scope)}{MCP}",
            "resource_name": "Forge",
            "scopes_supported": ["read", "write", "run"],
            "bearer_methods_supported": ["header"],
        }

    def _base(self, scope: Scope) -> str:
        scheme = "https" if self._origins.by_https_only(scope) else "http"
        return f"{scheme}://{values(scope, b'host')[0].lower()}"

    def session(self, scope: Scope) -> Session | None:
        """What its cookie says, if it is one of ours and holds."""
        return self._cookies.session(scope)

    def _spent(self, token: str) -> Who | None:
        issued = token_issued(self._secret, token)
        now = self._now()
        if issued is None or not self._started - 1e-6 <= issued <= now + 1 or now - issued > _TOKEN_LIFE:
            return None
        with self._lock:
            if token in self._used:
                return None
            remember(self._used, token, issued + _TOKEN_LIFE, now)
        return LOCAL

    def _is_local(self, text: str) -> bool:
        return self._local_key is not None and hmac.compare_digest(text.encode(), self._local_key.encode())

    def remembered(self, scope: Scope) -> Who | None:
        """The same as `identify` where no database is needed, which is nearly always."""
        return self._identified(scope, self._keys.remembered, self._keys.remembered_holder)

    def _identified(self, scope: Scope, by_text: _Find, by_id: _Find) -> Who | None:
        text = bearer(scope)
        if text is not None:
            return LOCAL if self._is_local(text) else by_text(text)
        session = self.session(scope)
        if session is None:
            return None
        return LOCAL if session.subject == LOCAL.id else by_id(session.subject)


def _check_reach(who: Who, path: str) -> None:
    """A key for one project: lists and settings of the server are not its business."""
    if who.project is None:
        return
    repository = f"/api/repositories/{who.repository}"
    mine = (f"/api/projects/{who.project}", "/api/mcp", *([repository] if who.repository else []))
    if not any(path == each or path.startswith(f"{each}/") for each in mine):
        raise KeyLimited("This key opens one project alone.", hint=f"Its addresses begin with {mine[0]}.")
    if any(path.startswith(f"{each}/shares") for each in mine):
        raise KeyLimited("This key cannot let anybody else in.", hint="Share with a key that is not for one project.")


class Access:
    """The middleware: nothing behind it is reached by whoever does not belong. `who_of` tells who it is."""

    def __init__(self, app: ASGIApp, *, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            admitted = await self._gate.admit(scope)
        except ForgeError as error:
            await self._gate.note_refusal(error, scope, self._gate.remembered(scope))
            await _refuse(error, scope, receive, hardened(scope, send))
            return
        if admitted.who is not None:
            signed_in(scope)
        scope["state"] = {**scope.get("state", {}), "who": admitted.who}
        await self._app(scope, receive, hardened(scope, send, cookie=admitted.cookie))


def who_of(scope: Scope) -> Who:
    who = scope.get("state", {}).get("who")
    if not isinstance(who, Who):
        raise SignInNeeded("Nobody is signed in.", hint="Open the address that `forge serve` prints, or send a key.")
    return who


async def _refuse(error: ForgeError, scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": error.code})
        return
    await of_error(error)(scope, receive, send)
