"""Who gets in: Host and Origin checks, sign-in, cookies and keys, and the headers that every answer carries.

A browser comes with a cookie that it got for a one-time token or a key; a program comes with `Authorization: Bearer`.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from forge.api.problems import of_error
from forge.app.identity import LOCAL, Who, derived, one_time_token, signature, token_issued
from forge.app.users import Keys, Rates
from forge.errors import Denied, ForgeError, InvalidInput

LIFE = 30 * 86_400.0
"""Of a session that nobody uses; each day of use begins it anew."""
_RENEWED = 86_400.0
_TOKEN_LIFE = 86_400.0
_GUARDED = "/api"
_OPEN = {"/api/health", "/api/session"}
_SAFE = {"GET", "HEAD", "OPTIONS"}
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?)(:[1-9][0-9]{0,4})?", re.ASCII)
_ORIGIN = re.compile(r"(https?)://([^/?#@\\\s]+)", re.ASCII)
_COOKIE = re.compile(r"1\.([0-9a-f]{32})\.(local|k_[0-9a-f]{16})\.([0-9]{1,12})\.([0-9a-f]{64})", re.ASCII)
_MOST_COOKIES = 8
_Find = Callable[[str], Who | None]

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


class SignInNeeded(Denied):
    """Nobody is signed in, or not any more."""

    code = "sign_in_needed"
    status = 401
    headers = {"WWW-Authenticate": 'Bearer realm="forge"'}  # noqa: RUF012 - never changed


class TokenRefused(Denied):
    """The token or key is wrong, or was used before."""

    code = "token_refused"
    status = 401


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


@dataclass(frozen=True, slots=True)
class Session:
    """What a cookie says. `subject` is `local` or the id of the key that it was given for."""

    id: str
    subject: str
    expires: float


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
        now: Callable[[], float] = time.time,
    ) -> None:
        """`local_key` lets processes of the person at this machine in, as `Authorization: Bearer`."""
        self._secret = secret
        self._hosts = _allowed(allowed_hosts, port)
        self._keys = keys
        self._rates = rates or Rates()
        self._local_key = local_key
        self._now = now
        self._started = now()
        self._cookie_key = derived(secret, "cookie")
        self._used: dict[str, float] = {}
        self._ended: dict[str, float] = {}
        self._lock = threading.Lock()
        # Cookies know no ports: two servers on one machine must not take each other's.
        self.cookie_name = f"forge_{port}"

    def new_token(self) -> str:
        """For one sign-in of the person at this machine."""
        return one_time_token(self._secret, now=self._now())

    def sign_in(self, token: str, *, secure: bool = False) -> Admitted:
        """A session, for a one-time token or a key; `cookie` goes into a `Set-Cookie` header. Asks the database."""
        who = self._keys.verify(token) if token.startswith("fk_") else self._spent(token)
        if who is None:
            raise TokenRefused("This token or key opens nothing.", hint="`forge serve` prints a new address.")
        if who.key is not None:
            self._rates.take(who.key)
        session = Session(secrets.token_hex(16), who.key or who.id, self._now() + LIFE)
        return Admitted(who, self._cookie(session, secure=secure))

    def sign_out(self, scope: Scope) -> str:
        """Ends the session of this request; the value of a `Set-Cookie` header that takes it from the browser."""
        session = self.session(scope)
        if session is not None:
            with self._lock:
                _remember(self._ended, session.id, session.expires, self._now())
        return f"{self.cookie_name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"

    def identify(self, scope: Scope) -> Who | None:
        """Whose request it is, by its key or else its cookie. May ask the database."""
        return self._identified(scope, self._keys.verify, self._keys.holder)

    def still_holds(self, who: Who) -> bool:
        """For long connections: whether their key still opens anything. May ask the database."""
        return who.key is None or self._keys.holder(who.key) is not None

    async def admit(self, scope: Scope) -> Admitted:
        """Lets a request pass or raises a `Denied`. The host is looked at before anything else."""
        host = self._checked_host(scope)
        is_open = scope["type"] == "http" and scope["path"] in _OPEN
        if scope["type"] == "http" and not _is_api(scope) and scope["method"] in {"GET", "HEAD"}:
            return Admitted(None)
        who = self._remembered(scope) or await asyncio.to_thread(self.identify, scope)
        if who is None and not is_open:
            raise SignInNeeded(
                "Nobody is signed in.", hint="Open the address that `forge serve` prints, or send a key."
            )
        by_key = _bearer(scope) is not None
        if not by_key or who is None:
            self._check_origin(scope, host, has_cookie=who is not None)
        if who is not None and who.key is not None:
            self._rates.take(who.key)
        return Admitted(who, None if by_key else self._renewed(scope))

    def session(self, scope: Scope) -> Session | None:
        """What its cookie says, if it is one of ours and holds."""
        candidates = [value for name, value in _cookies(scope) if name == self.cookie_name]
        for text in candidates[:_MOST_COOKIES]:
            session = self._read(text)
            if session is not None:
                return session
        return None

    def _read(self, text: str) -> Session | None:
        match = _COOKIE.fullmatch(text)
        if match is None:
            return None
        id_, subject, expires, signed = match.groups()
        if not hmac.compare_digest(signed, signature(self._cookie_key, text.rpartition(".")[0])):
            return None
        now = self._now()
        holds = now < float(expires) <= now + LIFE + 60 and id_ not in self._ended
        return Session(id_, subject, float(expires)) if holds else None

    def _cookie(self, session: Session, *, secure: bool) -> str:
        body = f"1.{session.id}.{session.subject}.{int(session.expires)}"
        value = f"{body}.{signature(self._cookie_key, body)}"
        told = f"{self.cookie_name}={value}; Path=/; Max-Age={int(LIFE)}; HttpOnly; SameSite=Strict"
        return f"{told}; Secure" if secure else told

    def _renewed(self, scope: Scope) -> str | None:
        session = self.session(scope)
        if session is None or session.expires - self._now() > LIFE - _RENEWED:
            return None
        later = Session(session.id, session.subject, self._now() + LIFE)
        return self._cookie(later, secure=scope.get("scheme") in {"https", "wss"})

    def _spent(self, token: str) -> Who | None:
        issued = token_issued(self._secret, token)
        now = self._now()
        if issued is None or not self._started - 1e-6 <= issued <= now + 1 or now - issued > _TOKEN_LIFE:
            return None
        with self._lock:
            if token in self._used:
                return None
            _remember(self._used, token, issued + _TOKEN_LIFE, now)
        return LOCAL

    def _is_local(self, bearer: str) -> bool:
        return self._local_key is not None and hmac.compare_digest(bearer.encode(), self._local_key.encode())

    def _remembered(self, scope: Scope) -> Who | None:
        """The same as `identify` where no database is needed, which is nearly always."""
        return self._identified(scope, self._keys.remembered, self._keys.remembered_holder)

    def _identified(self, scope: Scope, by_text: _Find, by_id: _Find) -> Who | None:
        bearer = _bearer(scope)
        if bearer is not None:
            return LOCAL if self._is_local(bearer) else by_text(bearer)
        session = self.session(scope)
        if session is None:
            return None
        return LOCAL if session.subject == LOCAL.id else by_id(session.subject)

    def _checked_host(self, scope: Scope) -> str:
        # Only the header itself counts. What a proxy says about it, anybody could say.
        named = _values(scope, b"host")
        host = named[0].lower() if len(named) == 1 else ""
        if _AUTHORITY.fullmatch(host) is None or host not in self._hosts:
            raise HostRefused(
                "This server does not go by that name.", hint="Open the address that `forge serve` prints."
            )
        return host

    def _check_origin(self, scope: Scope, host: str, *, has_cookie: bool) -> None:
        """A browser says from which page a request comes; where a cookie opens the door, it has to."""
        origins, sites = _values(scope, b"origin"), _values(scope, b"sec-fetch-site")
        is_socket = scope["type"] == "websocket"
        changes = is_socket or scope["method"] not in _SAFE
        ours = len(origins) == 1 and self._is_same_origin(origins[0], host)
        near = len(sites) == 1 and sites[0] in {"same-origin", "none"}
        foreign = (bool(origins) and not ours) or (bool(sites) and not near)
        unsaid = not ours and (is_socket or not near)
        if foreign or (has_cookie and changes and unsaid):
            raise OriginRefused("This request comes from another page.", hint="Use Forge's own page, or send a key.")

    def _is_same_origin(self, origin: str, host: str) -> bool:
        match = _ORIGIN.fullmatch(origin.lower())
        return match is not None and match[2] == host and match[1] in self._hosts[host]


class Access:
    """The middleware: nothing behind it is reached by who does not belong. `who_of` tells who it is."""

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
            await _refuse(error, scope, receive, _hardened(scope, send))
            return
        scope["state"] = {**scope.get("state", {}), "who": admitted.who}
        await self._app(scope, receive, _hardened(scope, send, cookie=admitted.cookie))


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


def _hardened(scope: Scope, send: Send, *, cookie: str | None = None) -> Send:
    is_api = _is_api(scope)
    policy = (API_POLICY if is_api else PAGE_POLICY).encode()

    async def hardened(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            ours = dict(_HEADERS) | {b"content-security-policy": policy}
            given = [pair for pair in message.get("headers", ()) if not _is_replaced(pair[0].lower(), ours)]
            names = {name.lower() for name, _ in given}
            if is_api and b"cache-control" not in names:
                ours[b"cache-control"] = b"no-store"
            if cookie is not None and b"set-cookie" not in names:
                ours[b"set-cookie"] = cookie.encode()
            message = {**message, "headers": [*given, *ours.items()]}
        await send(message)

    return hardened


def _is_api(scope: Scope) -> bool:
    return bool(scope["path"] == _GUARDED or scope["path"].startswith(f"{_GUARDED}/"))


def _is_replaced(name: bytes, ours: dict[bytes, bytes]) -> bool:
    # No page of another origin is ever let in, whatever a route believes.
    return name in ours or name.startswith(b"access-control-")


def _allowed(hosts: Iterable[str], port: int) -> dict[str, frozenset[str]]:
    """The names that this server goes by, as in a `Host` header, each with the schemes of its pages."""
    both = frozenset({"http", "https"})
    allowed = {f"{name}:{port}": both for name in ("127.0.0.1", "localhost", "[::1]")}
    if port == 80:
        allowed |= {name.removesuffix(":80"): both for name in allowed}
    for given in hosts:
        scheme, _, name = given.strip().lower().rpartition("://")
        name = f"[{name}]" if name.count(":") > 1 and not name.startswith("[") else name
        match = _AUTHORITY.fullmatch(name)
        if match is None or scheme not in {"", "http", "https"}:
            raise AllowedHostInvalid(
                f"{given!r} is no host name.", hint="Write forge.example.org or https://forge.example.org."
            )
        schemes = frozenset({scheme}) if scheme else both
        allowed |= dict.fromkeys({name} if match[2] else {name, f"{name}:{port}"}, schemes)
    return allowed


def _remember(table: dict[str, float], id_: str, until: float, now: float) -> None:
    for old in [each for each, end in table.items() if end <= now]:
        del table[old]
    table[id_] = until


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1").strip() for each, value in scope["headers"] if each.lower() == name]


def _bearer(scope: Scope) -> str | None:
    """What stands after `Bearer`. Where several say different things, none is believed, and no cookie either."""
    found = [value.split(None, 1) for value in _values(scope, b"authorization")]
    bearers = [words[1] if len(words) == 2 else "" for words in found if words and words[0].lower() == "bearer"]
    return None if not bearers else bearers[0] if len(found) == 1 else ""


def _cookies(scope: Scope) -> Iterable[tuple[str, str]]:
    for line in _values(scope, b"cookie"):
        for pair in line.split(";"):
            name, _, value = pair.strip().partition("=")
            yield name, value
