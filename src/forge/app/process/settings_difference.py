"""Settings of a command and of the server that does its work: what differs, and what the person is told of it."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from forge.app.process.server_lock import Serving
from forge.errors import Denied
from forge.settings import Settings, find_key
from forge.settings.catalog import listed
from forge.settings.values import PROVIDERS

_NOT_COMPARED = ("server", "data_dir", "database", "keys")
"""Of no account for a run, or the same by being there at all; keys are compared by what would be used."""
_MANY = 5


class ServerLacksKey(Denied):
    """The command has the key that the work needs, and the server that would do it has not."""

    code = "server_lacks_key"


@dataclass(frozen=True, slots=True)
class Difference:
    """A setting that is not the same in the server; `there`: whether the server has it at all."""

    name: str
    there: bool


def digests(settings: Settings, secret: str) -> dict[str, str]:
    """Every setting and key by its name, as a value to compare and not to read. May ask the keyring."""
    values = {each.name: each.value for each in listed(settings) if each.name.split(".")[0] not in _NOT_COMPARED}
    for provider in dict.fromkeys((*PROVIDERS, *settings.providers)):
        if (key := find_key(provider, settings)) is not None:
            values[f"keys.{provider}"] = key.value
    return {name: _digest(secret, json.dumps(value, default=str)) for name, value in values.items()}


def _digest(secret: str, text: str) -> str:
    return hmac.new(secret.encode(), text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()[:16]


def differences(there: Mapping[str, str], here: Mapping[str, str]) -> tuple[Difference, ...]:
    """By name. A server that has not said what it has differs in nothing that could be named."""
    if not there:
        return ()
    names = sorted(name for name in {*there, *here} if there.get(name) != here.get(name))
    return tuple(Difference(name, name in there) for name in names)


def differing(server: Serving, settings: Settings, *, chosen: Collection[str] = ()) -> tuple[Difference, ...]:
    """All but the sections `chosen`, which the command decides by itself."""
    found = differences(server.settings, digests(settings, server.secret))
    return tuple(each for each in found if each.name.split(".")[0] not in chosen)


def has_same(server: Serving, settings: Settings, name: str) -> bool:
    """Whether the server has this setting as it is here. One that has not described itself yet is taken to have it."""
    if name not in server.settings:
        return True
    value = next(each.value for each in listed(settings) if each.name == name)
    return server.settings[name] == _digest(server.secret, json.dumps(value, default=str))


def notes(server: Serving, found: tuple[Difference, ...]) -> tuple[str, ...]:
    """Lines for the person; none where nothing differs."""
    if not found:
        return ()
    return (
        f"forge: the server (process {server.pid}) does this with its own settings. {_named(found)}",
        "  → --direct does it here, with yours; a server reads its settings when it starts.",
    )


def refuse_without_key(server: Serving, found: tuple[Difference, ...], model: str) -> None:
    """A turn that could only fail is not begun."""
    name = f"keys.{model.partition(':')[0]}"
    if Difference(name, there=False) in found:
        raise ServerLacksKey(
            f"The server (process {server.pid}) would do this, and has no key for {name.partition('.')[2]}.",
            hint="--direct does it here, with your key; or start the server again where the key is set.",
        )


def _named(found: tuple[Difference, ...]) -> str:
    names = [each.name if each.there else f"{each.name} (not set there)" for each in found[:_MANY]]
    more = f" and {len(found) - _MANY} more" if len(found) > _MANY else ""
    return f"Not as here: {', '.join(names)}{more}."
