"""Forge's own board: projects by phase, with the time each phase took, the rounds and how the findings went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

PHASES: Mapping[str, str] = {
    "brain_dump": "Brain dump",
    "distilling": "Distilling",
    "human_review": "Human review",
    "spec_building": "Spec building",
    "building": "Building",
    "polishing": "Polishing",
    "done": "Done",
    "halted": "Halted",
}
"""The columns in their order, and what is above each."""

_BARS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """What the board has to know of a project. `totals` are the issues found in each polish round, oldest first."""

    id: str
    name: str
    phase: str
    halt_reason: str | None
    deliverable_type: str | None
    phase_times: Mapping[str, float]
    """Seconds in each phase, the current one included."""
    rounds: int
    totals: tuple[int, ...]
    updated: str
    """ISO 8601, UTC."""
    waiting: str | None = None
    """What a person is asked; None where nobody is."""
    label: str = ""
    """Its state, in words."""
    outline: bool = False
    """What was delivered is an outline."""


@dataclass(frozen=True, slots=True)
class ProjectCard:
    row: ProjectRow
    in_phase: float
    """Seconds in the phase that it is in."""
    overall: float
    sparkline: str
    trend: str
    """`falling`, `rising`, `level`, or empty before the second round."""
    halted: bool


@dataclass(frozen=True, slots=True)
class PhaseColumn:
    phase: str
    title: str
    cards: tuple[ProjectCard, ...]


@dataclass(frozen=True, slots=True)
class BoardView:
    columns: tuple[PhaseColumn, ...]
    broken: tuple[str, ...] = ()
    """A sentence about each project that cannot be read."""

    @property
    def waiting(self) -> tuple[ProjectCard, ...]:
        """Those that a person has to do something about, in the order of the columns."""
        return tuple(card for column in self.columns for card in column.cards if card.row.waiting or card.halted)


def columns(projects: Sequence[ProjectRow]) -> BoardView:
    """One column per phase, even where it is empty; in each the latest change first. Phases of plugins come last."""
    strange = sorted({row.phase for row in projects} - set(PHASES))
    titles = dict(PHASES) | {phase: phase.replace("_", " ").capitalize() for phase in strange}
    return BoardView(tuple(_column(phase, title, projects) for phase, title in titles.items()))


def _column(phase: str, title: str, projects: Sequence[ProjectRow]) -> PhaseColumn:
    rows = sorted((row for row in projects if row.phase == phase), key=lambda row: row.id)
    rows.sort(key=lambda row: row.updated, reverse=True)
    return PhaseColumn(phase, title, tuple(_card(row) for row in rows))


def _card(row: ProjectRow) -> ProjectCard:
    return ProjectCard(
        row=row,
        in_phase=row.phase_times.get(row.phase, 0.0),
        overall=sum(row.phase_times.values()),
        sparkline=sparkline(row.totals),
        trend=_trend(row.totals),
        halted=row.phase == "halted" or row.halt_reason is not None,
    )


def _trend(totals: Sequence[int]) -> str:
    if len(totals) < 2:
        return ""
    if totals[-1] == totals[-2]:
        return "level"
    return "falling" if totals[-1] < totals[-2] else "rising"


def sparkline(totals: Sequence[int], *, width: int = 24) -> str:
    """The last `width` totals as bars; the lowest bar is none at all, the highest the most of those shown."""
    shown = totals[-width:]
    most = max(shown, default=0)
    if most <= 0:
        return _BARS[0] * len(shown)
    # A total that is not zero never looks like zero.
    return "".join(_BARS[0 if total <= 0 else max(1, round(total / most * (len(_BARS) - 1)))] for total in shown)


def duration(seconds: float) -> str:
    """Two units at most, as in `2 h 5 min`."""
    whole = max(int(seconds), 0)
    units = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))
    for index, (name, size) in enumerate(units):
        if whole >= size:
            rest = whole % size
            finer = units[index + 1] if index + 1 < len(units) else None
            tail = f" {rest // finer[1]} {finer[0]}" if finer and rest // finer[1] else ""
            return f"{whole // size} {name}{tail}"
    return "0 s"
