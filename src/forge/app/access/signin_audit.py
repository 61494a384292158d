"""Who came in and who was refused, in the audit: every sign-in, and of what may be frequent the first of a minute."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from forge.app.access.identity import Shop, Who, audit

NOBODY = Who("nobody", "nobody", frozenset())
"""In the audit, whoever was refused."""
_NOTED = frozenset({"scope_missing", "shared_for_reading", "not_the_owner", "origin_refused", "host_refused"})
_APART = 60.0
_MOST = 10_000


class Entries:
    """Refusals of one sender and uses of one key are written down once a minute: nobody can fill the audit."""

    def __init__(self, shop: Shop, *, now: Callable[[], float] = time.monotonic) -> None:
        self._shop = shop
        self._now = now
        self._noted: dict[tuple[str, str], float] = {}
        self._lock = threading.Lock()

    def signed_in(self, who: Who, sender: str) -> None:
        audit(self._shop, who, "session.begin", f"user:{who.id}", _from(sender))

    def sign_in_refused(self, sender: str) -> None:
        if self._is_first("session.refuse", sender):
            audit(self._shop, NOBODY, "session.refuse", "session", _from(sender))

    def is_due(self, key: str) -> bool:
        """Whether its next use is to be written down. Asks nobody."""
        return self._now() - self._noted.get(("key.use", key), -_APART) >= _APART

    def key_used(self, who: Who, sender: str) -> None:
        if who.key is not None and self._is_first("key.use", who.key):
            audit(self._shop, who, "key.use", f"key:{who.key}", _from(sender))

    def key_refused(self, sender: str) -> None:
        """What was sent is not written down: it may be the key or password of something else."""
        if self._is_first("key.refuse", sender):
            audit(self._shop, NOBODY, "key.refuse", "key", _from(sender))

    def refusal_is_due(self, who: Who | None, code: str, sender: str) -> bool:
        """Whether it is to be written down. Asks nobody."""
        return code in _NOTED and self._now() - self._noted.get((code, _whose(who, sender)), -_APART) >= _APART

    def refused(self, who: Who | None, code: str, sender: str) -> None:
        """What somebody wanted and may not; what exactly they asked for is not written down."""
        if code in _NOTED and self._is_first(code, _whose(who, sender)):
            audit(self._shop, who or NOBODY, "request.refuse", code, _from(sender))

    def _is_first(self, what: str, whose: str) -> bool:
        now = self._now()
        with self._lock:
            if now - self._noted.get((what, whose), -_APART) < _APART:
                return False
            if len(self._noted) >= _MOST:
                self._noted = {each: then for each, then in self._noted.items() if now - then < _APART}
            # Beyond that many in a minute, nothing more is written down.
            if len(self._noted) >= _MOST:
                return False
            self._noted[what, whose] = now
            return True


def _whose(who: Who | None, sender: str) -> str:
    return sender if who is None else who.key or who.id


def _from(sender: str) -> str:
    return f"from {sender}" if sender else ""
