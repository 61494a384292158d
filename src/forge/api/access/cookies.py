"""Sessions of browsers: a signed cookie says whose it is and until when, so that a restart ends none."""

from __future__ import annotations

import hmac
import re
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import Scope

from forge.api.access.request_headers import cookies
from forge.app.access.identity import derived, signature

LIFE = 30 * 86_400.0
"""Of a session that nobody uses; each day of use begins it anew."""
_RENEWED = 86_400.0
_COOKIE = re.compile(r"1\.([0-9a-f]{32})\.(local|k_[0-9a-f]{16})\.([0-9]{1,12})\.([0-9a-f]{64})", re.ASCII)
_MOST = 8
_SLACK = 60.0
"""Of clocks that are not quite the same."""


@dataclass(frozen=True, slots=True)
class Session:
    """What a cookie says. `subject` is `local` or the id of the key that it was given for."""

    id: str
    subject: str
    expires: float


class Cookies:
    """Written and read for one server."""

    def __init__(self, secret: bytes, *, port: int, now: Callable[[], float]) -> None:
        # Cookies know no ports: two servers on one machine must not take each other's.
        self.name = f"forge_{port}"
        self._key = derived(secret, "cookie")
        self._now = now
        self._ended: dict[str, float] = {}
        self._lock = threading.Lock()

    def begun(self, subject: str, *, secure: bool) -> str:
        """A new session; what goes into a `Set-Cookie` header."""
        return self._written(Session(secrets.token_hex(16), subject, self._now() + LIFE), secure=secure)

    def session(self, scope: Scope) -> Session | None:
        """What its cookie says, if it is one of ours and holds."""
        candidates = [value for name, value in cookies(scope) if name == self.name]
        for text in candidates[:_MOST]:
            session = self._read(text)
            if session is not None:
                return session
        return None

    def ended(self, scope: Scope) -> str:
        """Ends the session of this request; the value of a `Set-Cookie` header that takes it from the browser."""
        session = self.session(scope)
        if session is not None:
            now = self._now()
            with self._lock:
                # Another browser may have a copy that was renewed until this moment.
                remember(self._ended, session.id, now + LIFE + _SLACK, now)
        return f"{self.name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"

    def renewed(self, scope: Scope, *, secure: bool) -> str | None:
        """A cookie that lives longer, if it is time for one."""
        session = self.session(scope)
        if session is None or session.expires - self._now() > LIFE - _RENEWED:
            return None
        later = Session(session.id, session.subject, self._now() + LIFE)
        return self._written(later, secure=secure)

    def _read(self, text: str) -> Session | None:
        match = _COOKIE.fullmatch(text)
        if match is None:
            return None
        id_, subject, expires, signed = match.groups()
        if not hmac.compare_digest(signed, signature(self._key, text.rpartition(".")[0])):
            return None
        now = self._now()
        holds = now < float(expires) <= now + LIFE + _SLACK and id_ not in self._ended
        return Session(id_, subject, float(expires)) if holds else None

    def _written(self, session: Session, *, secure: bool) -> str:
        body = f"1.{session.id}.{session.subject}.{int(session.expires)}"
        value = f"{body}.{signature(self._key, body)}"
        told = f"{self.name}={value}; Path=/; Max-Age={int(LIFE)}; HttpOnly; SameSite=Strict"
        return f"{told}; Secure" if secure else told


def remember(table: dict[str, float], id_: str, until: float, now: float) -> None:
    """Note `id_`, and forget what need not be known any more."""
    for old in [each for each, end in table.items() if end <= now]:
        del table[old]
    table[id_] = until
