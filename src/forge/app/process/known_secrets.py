"""The secrets that a process could use, and what takes them out of texts."""

from __future__ import annotations

from collections.abc import Mapping

from forge.sessions.redaction import Redactor
from forge.settings import Settings, find_key
from forge.settings.values import PROVIDERS


def redactor(settings: Settings, environ: Mapping[str, str]) -> Redactor:
    """Knows the keys that this process could use, so that none of them is ever kept or shown."""
    found = (find_key(provider, settings) for provider in (*PROVIDERS, *settings.providers))
    keys = [key.value for key in found if key is not None]
    named = [value for name, value in environ.items() if name.endswith(("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD"))]
    return Redactor([*keys, *named, *settings.secret_values()])
