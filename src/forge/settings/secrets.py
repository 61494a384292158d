"""Which values of the settings are secret, and what of them may be shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from pydantic import BaseModel, SecretStr

_SECRET = re.compile(r"(^|_)(token|secret|password|passphrase|key|keys|url|urls|webhook|dsn)$", re.IGNORECASE)
_ADDRESS = re.compile(r"\S+://\S+")
_LONG = 16


def shown_url(url: str) -> str:
    """An address without what may be secret in it: who logs in, the query, and long parts of the path."""
    # From the first mark to the last @, for a password may have anything in it.
    scheme, mark, rest = url.partition("://") if "://" in url else ("", "", url)
    login, at, address = rest.rpartition("@")
    place, _, query = address.partition("?")
    host, *path = place.split("/")
    parts = [host, *("…" if len(part) >= _LONG else part for part in path)]
    return f"{scheme}{mark}{'…@' if at and login else at}{'/'.join(parts)}{'?…' if query else ''}"


def shown_text(text: str) -> str:
    """A text with its addresses as they may be shown."""
    return _ADDRESS.sub(lambda found: shown_url(found[0]), text)


def logins(value: object) -> Iterator[str]:
    """Passwords in the addresses anywhere in a value, as they stand and decoded; a name alone may be a token."""
    match value:
        case str():
            for found in _ADDRESS.finditer(value):
                login = found[0].rpartition("@")[0].rpartition("://")[2]
                name, _, password = login.partition(":")
                yield from {password or name, unquote(password or name)} - {""}
        case BaseModel():
            for _, part in value:
                yield from logins(part)
        case Mapping():
            for part in value.values():
                yield from logins(part)
        case list() | tuple():
            for part in value:
                yield from logins(part)


def is_secret(key: str) -> bool:
    """Whether values under this key are not to be shown."""
    return _SECRET.search(key) is not None


def is_plain(key: str, value: str) -> bool:
    """Whether a value that is kept hidden may be shown after all: there is none, or it is an address without more."""
    return not value or (key.endswith("url") and shown_url(value) == value)


def hidden(key: str, value: object) -> object:
    if isinstance(value, Mapping):
        return {inner: hidden(str(inner), each) for inner, each in value.items()}
    if isinstance(value, str) and (is_secret(key) or ("@" in value and "://" in value)):
        return SecretStr(value)
    if isinstance(value, list | tuple) and is_secret(key):
        return [hidden(key, each) for each in value]
    return value


def revealed(value: object) -> Any:
    match value:
        case SecretStr():
            return value.get_secret_value()
        case Mapping():
            return {key: revealed(each) for key, each in value.items()}
        case list() | tuple():
            return [revealed(each) for each in value]
    return value
