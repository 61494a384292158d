"""The register as pictures (SVG): by impact and confidence, by what rests on what, from outcome to assumption."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from forge.json_value import Json

_WIDE, _HIGH, _ACROSS, _DOWN, _EDGE = 190, 74, 250, 90, 20
_LETTERS, _LINES = 30, 3
_CONFIDENCES, _IMPACTS = ("guessed", "informed", "validated"), ("high", "medium", "low")
_INK, _SOFT, _BAD, _PAPER, _FIRST = "#1f2328", "#656d76", "#cf222e", "#ffffff", "#9a6700"
_SOLID, _BROKEN = "1", '2" stroke-dasharray="5 4'


@dataclass(frozen=True, slots=True)
class Box:
    id: str
    title: str
    text: str
    column: int
    row: int
    is_broken: bool = False


def matrix(assumptions: Sequence[Json]) -> str:
    places = [(i, c) for i in _IMPACTS for c in _CONFIDENCES]
    cells = {place: [a for a in assumptions if (a["impact"], a["confidence"]) == place] for place in places}
    heights = {i: 34 + 34 * max(1, *(len(cells[i, c]) for c in _CONFIDENCES)) for i in _IMPACTS}
    wide, left, y = 250, 80, 46
    parts = [_text(left + n * wide + 8, 32, name, _SOFT) for n, name in enumerate(_CONFIDENCES)]
    for impact in _IMPACTS:
        parts.append(_text(_EDGE, y + 20, impact, _SOFT))
        for n, confidence in enumerate(_CONFIDENCES):
            is_first = (impact, confidence) == ("high", "guessed")
            parts.append(_rect(left + n * wide, y, wide - 8, heights[impact] - 8, _FIRST if is_first else _SOFT))
            for line, each in enumerate(cells[impact, confidence]):
                color = _BAD if each["status"] in ("invalidated", "at_risk") else _INK
                x, top = left + n * wide + 8, y + 22 + 34 * line
                parts.append(_text(x, top, _cut(f"{each['id']} {each['claim']}", 38), color))
                parts.append(_text(x, top + 15, _about(each), _SOFT))
        y += heights[impact]
    return _svg("Assumptions by impact and confidence", left + 3 * wide + _EDGE, y + _EDGE, parts)


def dependencies(assumptions: Sequence[Json]) -> str:
    by_id = {str(each["id"]): each for each in assumptions}
    order = TopologicalSorter({id_: [on for on in each["depends_on"] if on in by_id] for id_, each in by_id.items()})
    column: dict[str, int] = {}
    rows: Counter[int] = Counter()
    boxes: list[Box] = []
    for id_ in order.static_order():
        here = column[id_] = max((column[on] + 1 for on in by_id[id_]["depends_on"] if on in by_id), default=0)
        boxes.append(_box(by_id[id_], here, rows[here]))
        rows[here] += 1
    lines = [(on, id_) for id_, each in by_id.items() for on in each["depends_on"] if on in by_id]
    return _drawn("What rests on what", boxes, lines)


def tree(nodes: Sequence[Mapping[str, Any]]) -> str:
    """Of `parent` and `kind`, as an exploration has them."""
    under: dict[str | None, list[Mapping[str, Any]]] = {}
    for each in nodes:
        under.setdefault(each["parent"], []).append(each)
    boxes: list[Box] = []
    row = -1
    waiting = [(each, 0) for each in reversed(under.get(None, ()))]
    last = 0
    while waiting:
        each, column = waiting.pop()
        row += column <= last or row < 0
        last = column
        broken = each["status"] in ("invalidated", "at_risk")
        title = f"{each['kind']} {each['label']}".strip()
        boxes.append(Box(str(each["id"]), title, str(each["text"]), column, row, broken))
        waiting += [(child, column + 1) for child in reversed(under.get(str(each["id"]), ()))]
    return _drawn("From outcome to assumption", boxes, [(str(e["parent"]), str(e["id"])) for e in nodes if e["parent"]])


def _box(each: Json, column: int, row: int) -> Box:
    broken = each["status"] in ("invalidated", "at_risk")
    return Box(str(each["id"]), f"{each['id']} {_about(each)}", str(each["claim"]), column, row, broken)


def _about(each: Json) -> str:
    return f"risk {each['risk']:.1f}, {str(each['status']).replace('_', ' ')}"


def _drawn(title: str, boxes: Sequence[Box], lines: Iterable[tuple[str, str]]) -> str:
    at = {each.id: each for each in boxes}
    parts = [_line(at[a], at[b]) for a, b in lines if a in at and b in at]
    for each in boxes:
        parts += _drawn_box(each)
    width = max((each.column for each in boxes), default=0) * _ACROSS + _WIDE + 2 * _EDGE
    height = max((each.row for each in boxes), default=0) * _DOWN + _HIGH + 2 * _EDGE
    return _svg(title, width, height, parts)


def _drawn_box(each: Box) -> Iterator[str]:
    x, y = _EDGE + each.column * _ACROSS, _EDGE + each.row * _DOWN
    yield _rect(x, y, _WIDE, _HIGH, _BAD if each.is_broken else _SOFT)
    yield _text(x + 8, y + 16, _cut(each.title, _LETTERS), _BAD if each.is_broken else _SOFT)
    lines = textwrap.wrap(each.text, _LETTERS) or [""]
    last = [_cut(" ".join(lines[_LINES - 1 :]), _LETTERS)] if len(lines) >= _LINES else []
    shown = [*lines[: _LINES - 1], *last]
    for number, line in enumerate(shown):
        yield _text(x + 8, y + 33 + 15 * number, line, _INK)


def _line(a: Box, b: Box) -> str:
    x1, y1 = _EDGE + a.column * _ACROSS + _WIDE, _EDGE + a.row * _DOWN + _HIGH / 2
    x2, y2 = _EDGE + b.column * _ACROSS, _EDGE + b.row * _DOWN + _HIGH / 2
    bend = (x2 - x1) / 2
    broken = a.is_broken and b.is_broken
    look = f'stroke="{_BAD if broken else _SOFT}" stroke-width="{_BROKEN if broken else _SOLID}"'
    return f'<path d="M {x1} {y1:g} C {x1 + bend:g} {y1:g}, {x2 - bend:g} {y2:g}, {x2} {y2:g}" fill="none" {look}/>'


def _rect(x: float, y: float, width: float, height: float, color: str) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" fill="{_PAPER}" stroke="{color}"/>'


def _text(x: float, y: float, text: str, color: str) -> str:
    safe = escape("".join(letter if letter.isprintable() else " " for letter in text))
    return f'<text x="{x:g}" y="{y:g}" fill="{color}">{safe}</text>'


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _svg(title: str, width: float, height: float, parts: Iterable[str]) -> str:
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label={quoteattr(title)}'
    style = ' font-family="system-ui, sans-serif" font-size="12">'
    body = "\n".join([f'<rect width="100%" height="100%" fill="{_PAPER}"/>', *parts])
    return f"{head}{style}\n<title>{escape(title)}</title>\n{body}\n</svg>\n"
