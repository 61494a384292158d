"""Costs: counted once, summed every way a person asks."""

from __future__ import annotations

import pytest

from forge.sessions.messages import Usage
from forge.store.costs import Costs, Spent, day_of
from forge.store.database import Database

NOON = 1_794_744_000.0  # 2026-11-15 12:00 UTC


@pytest.fixture
def costs(database: Database) -> Costs:
    return Costs(database)


def record(costs: Costs, run: str, step: str, **change: object) -> None:
    values: dict[str, object] = {"repository": "r", "branch": "b", "model": "m", "time": NOON, "session": "s"}
    usage = Usage(input_tokens=100, output_tokens=10, cache_read_tokens=50, requests=1, cost=0.25)
    costs.record(run, step, **(values | {"usage": usage} | change))  # type: ignore[arg-type]


@pytest.mark.req("X-04")
def test_a_call_recorded_again_is_counted_once(costs: Costs) -> None:
    record(costs, "run", "1")
    record(costs, "run", "1")
    assert costs.total(run="run") == Spent(100, 10, 50, 0, 1, 0.25, 0)


def test_sums_by_run_branch_session_day_and_model(costs: Costs) -> None:
    record(costs, "one", "1")
    record(costs, "one", "2", model="n")
    record(costs, "two", "1", branch="c", session="t", time=NOON + 86_400)
    assert costs.total().requests == 3
    assert costs.total(run="one").cost == 0.5
    assert costs.total(repository="r", branch="c").input_tokens == 100
    assert costs.total(session="s").requests == 2
    assert costs.total(since=NOON + 1).requests == 1
    assert costs.total(until=NOON + 1).requests == 2
    assert {day: spent.requests for day, spent in costs.by("day").items()} == {"2026-11-15": 2, "2026-11-16": 1}
    assert {model: spent.cost for model, spent in costs.by("model", run="one").items()} == {"m": 0.25, "n": 0.25}


def test_calls_without_a_price_are_told_apart(costs: Costs) -> None:
    assert costs.total() == Spent()
    record(costs, "run", "1", usage=Usage(input_tokens=1, requests=1))
    assert costs.total().cost is None
    record(costs, "run", "2")
    assert costs.total().cost == 0.25
    assert costs.total().unpriced == 1


def test_a_day_is_the_same_everywhere() -> None:
    assert day_of(NOON) == "2026-11-15"
