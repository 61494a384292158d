"""Limits that stop an agent: looked at before each request, with what was spent so far."""

from __future__ import annotations

from dataclasses import dataclass

from forge.agents.errors import LimitReached
from forge.counts import counted
from forge.settings import CostLimits


@dataclass(frozen=True, slots=True)
class Spent:
    """US dollars and requests up to now. Requests whose price is unknown count as requests only."""

    turn: float = 0.0
    session: float = 0.0
    day: float = 0.0
    requests: int = 0


def check(limits: CostLimits, spent: Spent) -> None:
    """Raise `LimitReached` if another request would begin at or beyond a limit."""
    for name, limit, so_far in (
        ("turn", limits.turn_usd, spent.turn),
        ("session", limits.session_usd, spent.session),
        ("day", limits.day_usd, spent.day),
    ):
        if limit is not None and so_far >= limit:
            raise LimitReached(
                f"This {name} has cost ${so_far:.2f}, and its limit is ${limit:.2f}.",
                hint=f"Raise `limits.{name}_usd` in the settings file, or set it to null for none.",
            )
    if limits.requests_per_turn is not None and spent.requests >= limits.requests_per_turn:
        raise LimitReached(
            f"This turn has asked the model {counted(spent.requests, 'time')}; "
            f"its limit is {limits.requests_per_turn}.",
            hint="Raise `limits.requests_per_turn` in the settings file, or say what you want in smaller steps.",
        )
