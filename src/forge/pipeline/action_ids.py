"""Which presses had their effect, by the ids that faces gave them: the same again is no second press."""

from __future__ import annotations

import hashlib
from typing import Any

from forge.pipeline.errors import PressReused

KEPT = 50
"""How many ids a project remembers. Who repeats a press does so at once."""
_PRESSES = "presses"
_DIGEST = 16


def digest(asked: str, text: str) -> str:
    """Of what was asked for and the words that came with it."""
    return hashlib.sha256(f"{asked}\0{text}".encode("utf-8", "replace")).hexdigest()[:_DIGEST]


def is_repeated(info: dict[str, Any], press_id: str | None, wanted: str) -> bool:
    """Whether this very press had its effect. Words are never dropped because their id was used for others."""
    known = next((seen for id_, seen in info.get(_PRESSES, ()) if id_ == press_id), None)
    if known is not None and known != wanted:
        raise PressReused("This Idempotency-Key was used for something else.", hint="Send a new key with each press.")
    return known is not None


def remember(info: dict[str, Any], press_id: str | None, wanted: str) -> None:
    if press_id is not None:
        info[_PRESSES] = [*info.get(_PRESSES, ()), [press_id, wanted]][-KEPT:]
