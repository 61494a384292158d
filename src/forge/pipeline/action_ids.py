"""Which presses had their effect, by the ids that faces gave them: the same again is no second press."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from forge.pipeline.errors import PressReused
from forge.projects.info import ProjectInfo

KEPT = 50
"""How many ids a project remembers. Who repeats a press does so at once."""
_DIGEST = 16


def digest(asked: str, text: str) -> str:
    """Of what was asked for and the words that came with it."""
    return hashlib.sha256(f"{asked}\0{text}".encode("utf-8", "replace")).hexdigest()[:_DIGEST]


def is_repeated(info: ProjectInfo, press_id: str | None, wanted: str) -> bool:
    """Whether this very press had its effect. Words are never dropped because their id was used for others."""
    known = next((seen for id_, seen in info.presses if id_ == press_id), None)
    if known is not None and known != wanted:
        raise PressReused("This Idempotency-Key was used for something else.", hint="Send a new key with each press.")
    return known is not None


def remembered(info: ProjectInfo, press_id: str | None, wanted: str) -> ProjectInfo:
    return info if press_id is None else replace(info, presses=(*info.presses, (press_id, wanted))[-KEPT:])
