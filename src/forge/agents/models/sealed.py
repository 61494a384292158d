"""The seal on what an answer held beyond text and calls, and how secrets are kept out of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence

from forge.json_value import Json


def digest(entries: Sequence[Json]) -> str:
    return hashlib.sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()


def without_secrets(opaque: tuple[Json, ...], redact: Callable[[str], str]) -> tuple[Json, ...]:
    """`opaque` without parts whose readable text `redact` would change: a signed text cannot be altered, only left out.

    Signatures look random to any search for secrets, so `opaque` must not be redacted as a whole.
    """
    if not opaque or "digest" not in opaque[0]:
        return opaque
    head, *entries = opaque
    kept = [entry for entry in entries if not _changes(entry.get("part", {}).get("content"), redact)]
    return ({**head, "digest": digest(kept)}, *kept) if len(kept) < len(entries) else opaque


def _changes(content: object, redact: Callable[[str], str]) -> bool:
    return isinstance(content, str) and redact(content) != content
