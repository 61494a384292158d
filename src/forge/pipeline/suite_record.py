"""Lines of `test_runs.jsonl`. A line has what became of each test only where that differs from the line before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from forge.plugins.roles import TestResults

if TYPE_CHECKING:
    from forge.json_value import Json

_CHANGED, _GONE = "changed", "gone"


def line_of(results: TestResults, earlier: Sequence[Mapping[str, Any]], *, baseline: bool, now: float) -> Json:
    line = {**asdict(results), "details": "", "time": now, **({"baseline": True} if baseline else {})}
    before = next((told for told in reversed(results_by_line(earlier)) if told), {})
    here = results.results
    changed = {name: result for name, result in here.items() if before.get(name) != result}
    line["results"] = {_CHANGED: changed, _GONE: [name for name in before if name not in here]} if here else None
    return line


def results_by_line(lines: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, str], ...]:
    """By test name, for each line; empty where the line does not tell."""
    told: list[Mapping[str, str]] = []
    last: dict[str, str] = {}
    for line in lines:
        change = line.get("results")
        if not isinstance(change, Mapping):
            told.append({})
            continue
        gone = set(change.get(_GONE, ()))
        last = {**{name: result for name, result in last.items() if name not in gone}, **change.get(_CHANGED, {})}
        told.append(last)
    return tuple(told)


def baseline_of(lines: Sequence[Mapping[str, Any]]) -> TestResults | None:
    """The last run that was made before the work began."""
    places = [place for place, line in enumerate(lines) if line.get("baseline")]
    if not places:
        return None
    return TestResults.from_json({**lines[places[-1]], "results": results_by_line(lines)[places[-1]]})
