"""The figures as text, as JSON and as docs/benchmarks.md."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.timing import Figure, Row, seconds

_INTRODUCTION = """\
# Benchmarks

Written by `script/bench`. Each row is one run on one machine: both sides in turns, medians. Only the ratios carry over
to other machines. "Faster" is their time divided by ours. A goal below 1 means that being that much slower is accepted.
Saves are durable on both sides: git runs with `core.fsync=all`.
"""


def line(result: Row | Figure) -> str:
    mark = {True: "✓", False: "✗", None: " "}[result.met]
    size = f" [{result.size}]" if result.size else ""
    if isinstance(result, Figure):
        bound = f" ({result.bound})" if result.bound else ""
        return f"{mark} {result.what}{size}: {result.value:.3g} {result.unit}{bound}"
    goal = f" (goal {result.goal:.3g}×)" if result.goal else ""
    return (
        f"{mark} {result.what}{size}: {seconds(result.ours)} against {seconds(result.theirs)} "
        f"{result.against}: {result.ratio:.3g}×{goal}"
    )


def document(result: Row | Figure) -> dict[str, object]:
    if isinstance(result, Figure):
        return {
            "what": result.what,
            "size": result.size,
            "value": result.value,
            "unit": result.unit,
            "at_most": result.at_most,
            "at_least": result.at_least,
            "met": result.met,
        }
    return {
        "what": result.what,
        "against": result.against,
        "size": result.size,
        "ours_seconds": result.ours,
        "theirs_seconds": result.theirs,
        "ratio": result.ratio,
        "goal": result.goal,
        "met": result.met,
    }


def update(path: Path, results: Sequence[Row | Figure]) -> None:
    """Replace the rows of these figures in the page, and add those that it lacks. Comparisons need a whole run."""
    lines = path.read_text(encoding="utf-8").splitlines()
    head = next(place for place, text in enumerate(lines) if text.startswith("| figure |"))
    end = next((place for place in range(head, len(lines)) if not lines[place].startswith("|")), len(lines))
    figures = [each for each in results if isinstance(each, Figure)]
    titles = {f"| {each.what} |" for each in figures}
    kept = [text for text in lines[head + 2 : end] if not text.startswith(tuple(titles))]
    table = [*lines[: head + 2], *kept, *map(_figure_row, figures)]
    path.write_text("\n".join([*table, *lines[end:]]) + "\n", encoding="utf-8")


def _figure_row(figure: Figure) -> str:
    return (
        f"| {figure.what} | {figure.size} | {figure.value:.3g} {figure.unit} | {figure.bound} | {_mark(figure.met)} |"
    )


UNFINISHED = "**This run was ended early: what is not listed was not measured in it.**"


def write(path: Path, results: Sequence[Row | Figure], *, whole: bool) -> None:
    """The table so far; one that is not `whole` says so."""
    rows = [r for r in results if isinstance(r, Row)]
    figures = [r for r in results if isinstance(r, Figure)]
    lines = [
        _INTRODUCTION,
        _machine(),
        *([] if whole else ["", UNFINISHED]),
        "",
        "| what | size | Forge | instead | | faster | goal | |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {r.what} | {r.size} | {seconds(r.ours)} | {r.against} | {seconds(r.theirs)} | {r.ratio:.3g}× "
        f"| {f'{r.goal:.3g}×' if r.goal else ''} | {_mark(r.met)} |"
        for r in rows
    ]
    lines += ["", "| figure | size | value | goal | |", "|---|---|---|---|---|"]
    lines += [_figure_row(figure) for figure in figures]
    missed = [line(r) for r in results if r.met is False]
    lines += ["", "## Short of the goal", "", *([f"- {text[2:]}" for text in missed] or ["Nothing in this run."]), ""]
    path.write_text("\n".join(lines))


def _mark(met: bool | None) -> str:
    return {True: "✓", False: "✗ short of the goal", None: ""}[met]


def _machine() -> str:
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"Machine: {os.cpu_count()} cores, {system}, {git}."
