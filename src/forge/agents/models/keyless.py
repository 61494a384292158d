"""What is wrong with a key before anything is sent; apart from other failures because it needs no model library."""

from __future__ import annotations

from forge.agents.errors import KeyMissing
from forge.settings import Key
from forge.settings.keys import VARIABLES


def check_key(provider: str, key: Key) -> None:
    """A key goes into a header, where such characters end in an error that quotes it."""
    if not key.value.isascii() or not key.value.isprintable() or " " in key.value:
        raise KeyMissing(
            f"The key for {provider} from {key.origin} has characters that no key has.",
            hint="Copy it again, without quotes, spaces and line breaks.",
        )


def key_missing(provider: str) -> KeyMissing:
    variable = VARIABLES.get(provider, (f"the key_variable of providers.{provider}",))[0]
    return KeyMissing(
        f"There is no key for {provider}.",
        hint=f"Set {variable}=… in the environment, or `keys: {{{provider}: …}}` in the settings file.",
    )
