"""Keys of providers: from the environment, else the system's keyring, else the settings file. Never shown."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from forge.settings.values import Settings

SERVICE = "forge"
VARIABLES = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY",),
    "google": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "ollama": ("OLLAMA_API_KEY",),
}
# A keyring that asks a person to unlock it would hold up a machine on which nobody sits.
_MAY_ASK = ("keyring.backends.kwallet", "keyring.backends.libsecret", "keyring.backends.fail", "keyring.backends.null")
_PATIENCE = 2.0

Lookup = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Key:
    value: str = field(repr=False)
    origin: str
    """For a person: which variable, file or keyring it came from."""


def find_key(provider: str, settings: Settings, *, keyring: Lookup | None = None) -> Key | None:
    """The key to use with `provider`, or None. Looks into the keyring only when the environment has none."""
    known = settings.keys.get(provider)
    origin = settings.origin(f"keys.{provider}")
    if known is not None and origin.startswith("variable "):
        return Key(known.get_secret_value().strip(), origin)
    kept = (keyring or keyring_password)(provider)
    if kept:
        return Key(kept.strip(), f"keyring, service `{SERVICE}`, name `{provider}`")
    return Key(known.get_secret_value().strip(), origin) if known is not None else None


def keyring_password(name: str) -> str | None:
    """What the system's keyring holds, without ever asking or waiting: no usable keyring is the same as no key."""
    found: list[str | None] = []
    thread = threading.Thread(target=lambda: found.append(_ask_keyring(name)), name="forge-keyring", daemon=True)
    thread.start()
    thread.join(_PATIENCE)
    return found[0] if found else None


def _ask_keyring(name: str) -> str | None:
    if sys.platform != "darwin":
        # Where it is not at home, the backend of macOS looks for its libraries with ldconfig, gcc and ld.
        sys.modules.setdefault("keyring.backends.macOS.api", None)  # type: ignore[arg-type]
    import keyring  # noqa: PLC0415 - most runs have the key in the environment

    try:
        chosen = keyring.get_keyring()
    except Exception:  # noqa: BLE001 - plugins of strangers, named by a variable; one that is broken holds no key
        return None
    for backend in getattr(chosen, "backends", None) or [chosen]:
        if type(backend).__module__.startswith(_MAY_ASK) or _is_locked(backend):
            continue
        try:
            password = backend.get_password(SERVICE, name)
        except Exception:  # noqa: BLE001, S112 - as above
            continue
        if password:
            return str(password)
    return None


def _is_locked(backend: Any) -> bool:
    """The desktop's secret service opens a window when a locked collection is read, so look first."""
    if type(backend).__module__ != "keyring.backends.SecretService":
        return False
    import secretstorage  # noqa: PLC0415
    from jeepney.wrappers import DBusErrorResponse  # type: ignore[import-untyped]  # noqa: PLC0415

    try:
        bus = secretstorage.dbus_init()
        try:
            return bool(secretstorage.get_default_collection(bus).is_locked())
        finally:
            bus.close()
    except (secretstorage.exceptions.SecretStorageException, DBusErrorResponse, OSError, KeyError):
        return True
