"""A command beside a server: what the command begins is run by the server, and the person is told what that changes."""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from forge.app.process.server_lock import Serving, named_server
from forge.engine.engine import Engine
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


class Handing:
    """Who runs what a command begins: the server of its data directory, whenever there is one.

    `chosen` are sections of the settings that the command decides by itself, before it hands anything over.
    """

    def __init__(self, settings: Settings, tell: Callable[[str], None], *, chosen: Collection[str] = ()) -> None:
        self._settings = settings
        self._tell = tell
        self._chosen = frozenset(chosen)
        self._lock = threading.Lock()
        self._told: set[int] = set()
        self._runs: tuple[str, ...] = ()
        self._by: int | None = None

    @property
    def by(self) -> int | None:
        """The server that was handed a run last, unless it has died since."""
        return self._by

    def at_work(self, engine: Engine) -> int | None:
        """The server, if it has something of this command's to do still."""
        return self._by if any(not engine.status(run).has_ended for run in self._runs) else None

    def pid(self) -> int | None:
        server = named_server(self._settings.data_dir)
        return None if server is None else server.pid

    def handed(self, run_id: str) -> None:
        server = named_server(self._settings.data_dir)
        if server is None:  # it has ended since: what it was handed is gone on with here
            return
        with self._lock:
            first = server.pid not in self._told
            self._told.add(server.pid)
            self._by = server.pid
            self._runs = (*self._runs, run_id)
        if first and (found := self._differing(server)):
            self._tell(f"forge: the server (process {server.pid}) does this with its own settings. {_named(found)}")
            self._tell("  → --direct does it here, with yours; a server reads its settings when it starts.")

    def taken_back(self) -> None:
        with self._lock:
            before, self._by = self._by, None
        if before is not None:
            self._tell(f"forge: the server (process {before}) has ended; this command goes on with its work.")

    def refuse_without_key(self, model: str) -> None:
        """A turn that could only fail is not begun."""
        server = named_server(self._settings.data_dir)
        name = f"keys.{model.partition(':')[0]}"
        if server is not None and Difference(name, there=False) in self._differing(server):
            raise ServerLacksKey(
                f"The server (process {server.pid}) would do this, and has no key for {name.partition('.')[2]}.",
                hint="--direct does it here, with your key; or start the server again where the key is set.",
            )

    def _differing(self, server: Serving) -> tuple[Difference, ...]:
        found = differences(server.settings, digests(self._settings, server.secret))
        return tuple(each for each in found if each.name.split(".")[0] not in self._chosen)


def _named(found: tuple[Difference, ...]) -> str:
    names = [each.name if each.there else f"{each.name} (not set there)" for each in found[:_MANY]]
    more = f" and {len(found) - _MANY} more" if len(found) > _MANY else ""
    return f"Not as here: {', '.join(names)}{more}."
