"""Prices and limits."""

from __future__ import annotations

import pytest

from forge.agents.errors import LimitReached
from forge.agents.limit_check import Spent, check
from forge.agents.pricing import context_window, known_models, price, priced
from forge.sessions.messages import Usage
from forge.settings import CostLimits

LIMITS = CostLimits(turn_usd=1, session_usd=5, day_usd=10, requests_per_turn=20)


def test_below_its_limits_an_agent_goes_on() -> None:
    check(LIMITS, Spent(turn=0.99, session=4.99, day=9.99, requests=19))


@pytest.mark.req("G-17")
@pytest.mark.parametrize(
    ("spent", "name", "setting"),
    [
        (Spent(turn=1.0), "turn", "limits.turn_usd"),
        (Spent(session=5.5), "session", "limits.session_usd"),
        (Spent(day=10.0), "day", "limits.day_usd"),
        (Spent(requests=20), "20 times", "limits.requests_per_turn"),
    ],
)
def test_at_a_limit_it_stops_and_says_which_and_how_to_raise_it(spent: Spent, name: str, setting: str) -> None:
    with pytest.raises(LimitReached) as reached:
        check(LIMITS, spent)
    assert name in reached.value.message
    assert setting in reached.value.hint


def test_no_limit_never_stops() -> None:
    none = CostLimits(turn_usd=None, session_usd=None, day_usd=None, requests_per_turn=None)
    check(none, Spent(1e6, 1e6, 1e6, 10**6))


def test_a_limit_of_nothing_lets_nothing_through() -> None:
    with pytest.raises(LimitReached):
        check(CostLimits(day_usd=0), Spent())


@pytest.mark.req("G-17")
def test_tokens_have_a_price_and_unknown_models_none() -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=100_000, requests=1)
    assert priced(usage, "anthropic", "claude-sonnet-5").cost == pytest.approx(2 + 1)
    assert priced(usage, "anthropic", "no-such-model").cost is None
    assert priced(usage, "nobody", "claude-sonnet-5").cost is None
    assert priced(usage, "anthropic", "claude-sonnet-5", told=0.5).cost == 0.5
    nonsense = Usage(input_tokens=10, cache_read_tokens=100)
    assert priced(nonsense, "anthropic", "claude-sonnet-5").cost is None


def test_prices_are_for_a_million_tokens() -> None:
    found = price("anthropic", "claude-sonnet-5")
    assert found is not None
    assert (found.input, found.output) == (pytest.approx(2), pytest.approx(10))
    assert price("nobody", "x") is None
    assert context_window("anthropic", "claude-sonnet-5") == 1_000_000
    assert context_window("ollama", "qwen3") is None
    assert "claude-sonnet-5" in known_models("anthropic")
