"""Forge's own board: which project stands where, and what its card tells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.boards.overview import PHASES, ProjectRow, columns, duration, sparkline

pytestmark = pytest.mark.req("P-20")


def row(id_: str, phase: str, **more: object) -> ProjectRow:
    fields: dict[str, object] = {
        "name": id_,
        "halt_reason": None,
        "deliverable_type": "plan",
        "phase_times": {"brain_dump": 60.0, phase: 30.0},
        "rounds": 0,
        "totals": (),
        "updated": "2026-11-15T12:00:00Z",
    }
    return ProjectRow(id=id_, phase=phase, **(fields | more))  # type: ignore[arg-type]


def test_every_phase_has_its_column_in_order_and_the_latest_change_comes_first() -> None:
    view = columns(
        [
            row("old", "polishing", updated="2026-11-14T12:00:00Z"),
            row("new", "polishing", updated="2026-11-15T12:00:00Z"),
            row("first", "brain_dump"),
        ]
    )
    assert [column.phase for column in view.columns] == list(PHASES)
    filled = {column.title: [card.row.id for card in column.cards] for column in view.columns if column.cards}
    assert filled == {"Brain dump": ["first"], "Polishing": ["new", "old"]}


def test_a_card_tells_times_rounds_and_how_the_errors_went() -> None:
    polishing = row("p", "polishing", rounds=4, totals=(12, 7, 7, 0), phase_times={"building": 3600, "polishing": 125})
    (card,) = columns([polishing]).columns[5].cards
    assert (card.in_phase, card.overall, card.row.rounds) == (125, 3725, 4)
    assert (card.sparkline, card.trend, card.halted) == ("█▅▅▁", "falling", False)


def test_halted_and_waiting_projects_are_marked() -> None:
    view = columns(
        [
            row("stuck", "halted", halt_reason="stagnation"),
            row("asked", "human_review", waiting="Is this what you meant?"),
            row("fine", "building"),
        ]
    )
    assert [card.row.id for card in view.waiting] == ["asked", "stuck"]
    assert [card.halted for card in view.waiting] == [False, True]


def test_a_phase_of_a_plugin_gets_a_column_at_the_end() -> None:
    view = columns([row("odd", "proof_reading")])
    assert (view.columns[-1].phase, view.columns[-1].title) == ("proof_reading", "Proof reading")


@pytest.mark.parametrize(
    ("totals", "line"),
    [((), ""), ((0,), "▁"), ((5,), "█"), ((0, 0), "▁▁"), ((1, 100), "▂█"), ((7, 6, 5, 4, 3, 2, 1, 0), "█▇▆▅▄▃▂▁")],
)
def test_a_sparkline_shows_nothing_as_the_lowest_bar(totals: tuple[int, ...], line: str) -> None:
    assert sparkline(totals) == line


@given(st.lists(st.integers(0, 500), max_size=60), st.integers(1, 30))
def test_a_sparkline_keeps_the_order_of_the_last_totals(totals: list[int], width: int) -> None:
    line, shown = sparkline(totals, width=width), totals[-width:]
    assert len(line) == len(shown)
    for (bar, total), (next_bar, next_total) in zip(
        zip(line, shown, strict=True), list(zip(line, shown, strict=True))[1:], strict=False
    ):
        assert total == next_total or (bar <= next_bar) == (total < next_total) or bar == next_bar
    assert all((bar == "▁") == (total == 0) for bar, total in zip(line, shown, strict=True))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (59.9, "59 s"), (60, "1 min"), (7500, "2 h 5 min"), (3601, "1 h"), (90_000, "1 d 1 h"), (-5, "0 s")],
)
def test_durations_have_two_units_at_most(seconds: float, words: str) -> None:
    assert duration(seconds) == words
