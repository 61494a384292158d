"""Which actions had their effect, by the ids that faces gave them: the same id again is no second action."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from forge.pipeline.errors import ActionIdReused

if TYPE_CHECKING:
    from forge.projects.info import ProjectInfo

KEPT = 50
"""How many ids a project remembers. A client that repeats an action does so at once."""
_DIGEST = 16


def digest(asked: str, text: str) -> str:
    """Of what was asked for and the words that came with it."""
    return hashlib.sha256(f"{asked}\0{text}".encode("utf-8", "replace")).hexdigest()[:_DIGEST]


def is_repeated(info: ProjectInfo, action_id: str | None, wanted: str) -> bool:
    """Whether this very action had its effect. Words are never dropped because their id was used for others."""
    known = next((seen for id_, seen in info.presses if id_ == action_id), None)
    if known is not None and known != wanted:
        raise ActionIdReused("This Idempotency-Key was used for something else.", hint="Use a new key for each action.")
    return known is not None


def remembered(info: ProjectInfo, action_id: str | None, wanted: str) -> ProjectInfo:
    return info if action_id is None else replace(info, presses=(*info.presses, (action_id, wanted))[-KEPT:])
