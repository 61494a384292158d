"""Keys of providers in the system's keyring: put there, taken out again, and never shown."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.app.access.identity import Who, audit, require
from forge.app.process.workshop import Workshop
from forge.errors import Conflict, InvalidInput, NotFound
from forge.settings import find_key
from forge.settings.keys import SERVICE, VARIABLES, keyring_password
from forge.settings.values import PROVIDERS

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

_PATIENCE = 20.0
"""A keyring may ask the person at this machine to unlock it."""
_LONGEST = 1000


class ProviderUnknown(NotFound):
    code = "provider_unknown"


class KeyringUnusable(Conflict):
    """No keyring of this machine keeps anything for us."""

    code = "keyring_unusable"


class ProviderKeyInvalid(InvalidInput):
    code = "provider_key_invalid"


@dataclass(frozen=True, slots=True)
class ProviderKey:
    provider: str
    is_set: bool
    origin: str
    """Where the key that is used comes from: a variable, the keyring, a file. Never the key."""
    in_keyring: bool
    """It can be taken out here, though a variable may be what is used."""


def list_provider_keys(shop: Workshop, who: Who) -> tuple[ProviderKey, ...]:
    require(who, "admin")
    return tuple(_shown(shop, provider) for provider in _providers(shop))


def set_provider_key(shop: Workshop, who: Who, provider: str, key: str) -> ProviderKey:
    """From the next request to the provider on. What cannot be read back counts as not kept."""
    require(who, "admin")
    _check(shop, provider)
    value = key.strip()
    if not value or len(value) > _LONGEST or not value.isascii() or not value.isprintable() or " " in value:
        raise ProviderKeyInvalid("This is no key.", hint="Copy it from the provider's page, without spaces.")
    # Before it is used anywhere.
    shop.redactor.learn(value)
    if not _done(lambda keyring: keyring.set_password(SERVICE, provider, value)) or _kept(provider) != value:
        # It may be where nobody looks for it.
        _done(lambda keyring: keyring.delete_password(SERVICE, provider))
        raise _unusable(provider)
    audit(shop, who, "provider.set_key", provider)
    return _shown(shop, provider)


def remove_provider_key(shop: Workshop, who: Who, provider: str) -> ProviderKey:
    """Only from the keyring; what the environment or a file has stays."""
    require(who, "admin")
    _check(shop, provider)
    if _kept(provider) is not None:
        if not _done(lambda keyring: keyring.delete_password(SERVICE, provider)) or _kept(provider) is not None:
            raise _unusable(provider)
        audit(shop, who, "provider.remove_key", provider)
    return _shown(shop, provider)


def _providers(shop: Workshop) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*PROVIDERS, *shop.settings.providers)))


def _check(shop: Workshop, provider: str) -> None:
    if provider not in _providers(shop):
        raise ProviderUnknown("There is no such provider.", hint=f"There are {', '.join(_providers(shop))}.")


def _shown(shop: Workshop, provider: str) -> ProviderKey:
    found = find_key(provider, shop.settings)
    return ProviderKey(provider, found is not None, found.origin if found else "", _kept(provider) is not None)


def _kept(provider: str) -> str | None:
    return keyring_password(provider)


def _done(change: Callable[[KeyringBackend], None]) -> bool:
    """Whether it went through in time; a keyring that waits for its password must not hold up the server."""
    went: list[bool] = []
    thread = threading.Thread(target=lambda: went.append(_tried(change)), name="forge-keyring", daemon=True)
    thread.start()
    thread.join(_PATIENCE)
    return bool(went and went[0])


def _tried(change: Callable[[KeyringBackend], None]) -> bool:
    import keyring  # noqa: PLC0415 - takes a moment to load

    try:
        change(keyring.get_keyring())
    except Exception:  # noqa: BLE001 - plugins of strangers; the caller is told that it did not go through
        return False
    return True


def _unusable(provider: str) -> KeyringUnusable:
    variable = VARIABLES.get(provider, ("",))[0]
    other = f"set {variable} for the server, or " if variable else ""
    return KeyringUnusable(
        "The keyring of this machine cannot be changed from here.",
        hint=f"Unlock it and try again; else {other}put `keys.{provider}` into the settings file.",
    )
