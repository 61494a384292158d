"""Refusals of the explorer: each says what was wrong and what to do instead, for a model and for a person alike."""

from __future__ import annotations

from forge.errors import Conflict, InvalidInput, NotFound


class ChangeRefused(InvalidInput):
    """A change of the exploration that breaks one of its rules. Nothing was changed."""

    code = "exploration_change_refused"


class AssumptionMissing(NotFound):
    code = "assumption_missing"


class VerdictRefused(Conflict):
    """The arithmetic does not allow this verdict yet."""

    code = "verdict_refused"
