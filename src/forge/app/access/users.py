"""Users and their forge-keys: made, listed, taken away, and recognised when they come with a request."""

from __future__ import annotations

import math
import re
import secrets
import string
import threading
import time
import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from forge.app.access.identity import (
    ALL_SCOPES,
    Shop,
    UserUnknown,
    Who,
    audit,
    derived,
    owned,
    require,
    signature,
)
from forge.errors import Conflict, Denied, InvalidInput, NotFound
from forge.store.database import Database
from forge.store.keys import HashedKey, KeptKeys, Key, KeyRows
from forge.store.users import User, Users

__all__ = ["Key"]

USUAL_SCOPES = frozenset({"read", "write", "run"})
_ALPHABET = string.ascii_letters + string.digits
_LENGTH = 43  # of 62 letters: 256 bits
_KEY = re.compile(rf"fk_[A-Za-z0-9]{{{_LENGTH}}}", re.ASCII)
_PREFIX = len("fk_") + 6
_NAME = re.compile(r"[^\W_](?:[\w .@+'-]{0,62}[\w.])?")
_ID = re.compile(r"u_[0-9a-f]{16}", re.IGNORECASE | re.ASCII)
_DAY = 86_400.0
_MOST_BUCKETS = 10_000


class UserNameInvalid(InvalidInput):
    code = "user_name_invalid"


class UserExists(Conflict):
    code = "user_exists"


class UserDisabled(Conflict):
    code = "user_disabled"


class KeyUnknown(NotFound):
    code = "key_unknown"


class KeyOptionsInvalid(InvalidInput):
    """A scope that does not exist, or a life that ends before it begins."""

    code = "key_options_invalid"


class RateLimited(Denied):
    """More requests than a key may make. `retry_after` is in seconds."""

    code = "rate_limited"
    status = 429

    def __init__(self, message: str, *, hint: str = "", retry_after: float = 1.0) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Retry-After": str(max(1, math.ceil(self.retry_after)))}


def add_user(shop: Shop, who: Who, name: str) -> User:
    require(who, "admin")
    typed = unicodedata.normalize("NFKC", name).strip()
    # By the name of a user, or by what looks like an id, everybody shall mean the same one.
    if _NAME.fullmatch(typed) is None or _ID.fullmatch(typed):
        raise UserNameInvalid(
            f"{name!r} cannot be the name of a user.",
            hint="Take up to 64 letters, digits, spaces and . @ + - ', beginning with a letter or digit; and nothing "
            "that looks like an id.",
        )
    id_ = f"u_{secrets.token_hex(8)}"
    if not Users(shop.database).add(id_, typed, now=time.time()):
        raise UserExists(f"There is a user {typed!r} already.", hint="Choose another name.")
    audit(shop, who, "user.add", f"user:{id_}", typed)
    return user(shop, who, id_)


def list_users(shop: Shop, who: Who) -> tuple[User, ...]:
    require(who, "admin")
    return Users(shop.database).list()


def user(shop: Shop, who: Who, name_or_id: str) -> User:
    require(who, "admin")
    found = Users(shop.database).find(name_or_id)
    if found is None:
        raise UserUnknown(f"There is no user {name_or_id!r}.", hint="`forge user list` shows them.")
    return found


def disable_user(shop: Shop, who: Who, name_or_id: str) -> User:
    """All their keys stop working. What is theirs stays theirs."""
    found = user(shop, who, name_or_id)
    if Users(shop.database).disable(found.id, now=time.time()):
        audit(shop, who, "user.disable", f"user:{found.id}", found.name)
    return user(shop, who, found.id)


@dataclass(frozen=True, slots=True)
class NewKey:
    """`text` is the key itself: shown once, kept nowhere."""

    text: str
    key: Key


@dataclass(frozen=True, slots=True)
class KeyReach:
    """The one project that a key opens, and the repository in which that is built, if it has one."""

    project: str
    repository: str | None = None


def new_key(
    shop: Shop,
    who: Who,
    secret: bytes,
    name_or_id: str,
    *,
    name: str = "",
    scopes: Collection[str] = USUAL_SCOPES,
    days: float | None = None,
    reach: KeyReach | None = None,
) -> NewKey:
    """Only who may administer makes keys, so that a key that got lost cannot be used to make itself another.

    With `reach` it opens one project, for an owner who may see that.
    """
    owner = user(shop, who, name_or_id)
    if owner.disabled is not None:
        raise UserDisabled(
            f"{owner.name} is disabled: a key for them would open nothing.", hint="Add a user under another name."
        )
    now = time.time()
    _check(scopes, days)
    if reach is not None:
        _check_reach(shop, owner, scopes, reach)
    text = "fk_" + "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
    id_, expires = f"k_{secrets.token_hex(8)}", None if days is None else now + days * _DAY
    label = shop.redactor.text(name.strip()[:100])
    KeyRows(shop.database).add(
        id_,
        user=owner.id,
        name=label,
        prefix=text[:_PREFIX],
        hash_=hash_of(secret, text),
        scopes=scopes,
        now=now,
        expires=expires,
        project=reach.project if reach else None,
        repository=reach.repository if reach else None,
    )
    told = f"for {owner.name}: {' '.join(sorted(scopes))}" + (f", project {reach.project} alone" if reach else "")
    audit(shop, who, "key.new", f"key:{id_}", told)
    return NewKey(text, _found(shop, id_).key)


def list_keys(shop: Shop, who: Who, name_or_id: str | None = None) -> tuple[Key, ...]:
    """List one's own keys. Listing another user's or everybody's requires the `admin` scope."""
    require(who, "read")
    if name_or_id not in {None, who.id, who.name}:
        require(who, "admin")
    if "admin" not in who.scopes:
        return KeyRows(shop.database).list(user=who.id)
    return KeyRows(shop.database).list(user=None if name_or_id is None else user(shop, who, name_or_id).id)


def revoke_key(shop: Shop, who: Who, id_: str) -> Key:
    """One's own, or for whoever may administer, anybody's. Another's key ends like one that does not exist."""
    require(who, "read")
    found = KeyRows(shop.database).by_id(id_)
    if found is None or ("admin" not in who.scopes and found.key.user != who.id):
        raise _unknown(id_)
    if KeyRows(shop.database).revoke(id_, now=time.time()):
        audit(shop, who, "key.revoke", f"key:{id_}", found.key.prefix)
    return _found(shop, id_).key


def _check(scopes: Collection[str], days: float | None) -> None:
    unknown = sorted(set(scopes) - ALL_SCOPES)
    if unknown or not scopes:
        told = f"There is no scope {unknown[0]!r}." if unknown else "A key needs a scope."
        raise KeyOptionsInvalid(told, hint=f"There are {', '.join(sorted(ALL_SCOPES))}.")
    # Written so that NaN does not pass.
    if days is not None and not 0 < days <= 36_500:
        raise KeyOptionsInvalid(f"A key cannot live for {days} days.", hint="Give a number above 0, or none.")


def _check_reach(shop: Shop, owner: User, scopes: Collection[str], reach: KeyReach) -> None:
    if "admin" in scopes:
        raise KeyOptionsInvalid("A key for one project cannot administer.", hint="Leave out the scope admin.")
    owned(shop, Who(owner.id, owner.name, frozenset(scopes)), "project", reach.project)


def _found(shop: Shop, id_: str) -> HashedKey:
    found = KeyRows(shop.database).by_id(id_)
    if found is None:
        raise _unknown(id_)
    return found


def _unknown(id_: str) -> KeyUnknown:
    return KeyUnknown(f"There is no key {id_!r}.", hint="`forge key list` shows them.")


def hash_of(secret: bytes, text: str) -> str:
    """What is kept of a key.

    A key is 256 random bits, so nobody can try them all, and a slow hash would only slow down the server. Keyed, so
    that a copy of the database alone does not even let a guess be checked.
    """
    return signature(derived(secret, "keys"), text)


class Keys:
    """Recognises keys. What was looked up is believed for `fresh` seconds, which is how long a revocation may take."""

    def __init__(
        self, database: Database, secret: bytes, *, fresh: float = 1.0, now: Callable[[], float] = time.time
    ) -> None:
        self._kept = KeptKeys(KeyRows(database), fresh=fresh, now=now)
        self._secret = secret

    def verify(self, text: str) -> Who | None:
        """Whose key it is; None where it is none, or not any more."""
        return _who(self._kept.by_hash(hash_of(self._secret, text))) if _KEY.fullmatch(text) else None

    def remembered(self, text: str) -> Who | None:
        """The same, if it can be told without the database."""
        return _who(self._kept.remembered(hash_of(self._secret, text))) if _KEY.fullmatch(text) else None

    def holder(self, id_: str) -> Who | None:
        """Whose key has this id, while it opens anything: for a session that was begun with it."""
        return _who(self._kept.by_id(id_))

    def remembered_holder(self, id_: str) -> Who | None:
        return _who(self._kept.remembered(id_))

    def forget(self) -> None:
        """A key was revoked or a user disabled in this process: it shall hold at once."""
        self._kept.forget()


def _who(key: Key | None) -> Who | None:
    if key is None:
        return None
    scopes = frozenset(key.scopes) & ALL_SCOPES
    return Who(key.user, key.user_name, scopes, key.id, project=key.project, repository=key.repository)


class Rates:
    """A bucket of tokens for each key: `burst` at once, then `per_second`."""

    def __init__(
        self, *, per_second: float = 100.0, burst: float = 400.0, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second = per_second
        self._burst = burst
        self._now = now
        self._buckets: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def take(self, key: str) -> None:
        with self._lock:
            now = self._now()
            left, then = self._buckets.get(key, (self._burst, now))
            left = min(self._burst, left + (now - then) * self._per_second)
            if left < 1:
                wait = (1 - left) / self._per_second
                raise RateLimited(
                    "This key has made too many requests.", hint="Wait a moment and try again.", retry_after=wait
                )
            if len(self._buckets) >= _MOST_BUCKETS:
                self._drop_full(now)
            self._buckets[key] = (left - 1, now)

    def _drop_full(self, now: float) -> None:
        full = [
            key for key, (left, then) in self._buckets.items() if left + (now - then) * self._per_second >= self._burst
        ]
        for key in full:
            del self._buckets[key]
