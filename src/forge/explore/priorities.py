"""Priorities computed by a named framework, in an order that respects dependencies and explains itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forge.explore.errors import ChangeRefused
from forge.json_value import Json

NEEDED: Mapping[str, tuple[str, ...]] = {
    "rice": ("reach", "impact", "confidence", "effort"),
    "cost_of_delay": ("delay_cost", "duration"),
    "ice": ("impact", "confidence", "ease"),
}
"""Frameworks and the numbers that each needs of an item."""


def ordered(framework: str, items: Sequence[Json]) -> list[Json]:
    """By score, the highest first, but never before what an item depends on. Each says why it is where it is."""
    names = [str(item["name"]).strip() for item in items]
    if len(set(names)) != len(names):
        raise ChangeRefused("Two items have the same name.", hint="Give each item its own name.")
    scored = {
        name: {**item, "name": name, "score": score(framework, item)} for name, item in zip(names, items, strict=True)
    }
    for name, item in scored.items():
        for on in item.get("depends_on", ()):
            if on not in scored or on == name:
                raise ChangeRefused(f"`{name}` depends on `{on}`, which is no other item.", hint="Name another item.")
    done: list[Json] = []
    placed: set[str] = set()
    while len(done) < len(scored):
        free = [item for name, item in scored.items() if name not in placed and _is_free(item, placed)]
        if not free:
            rest = ", ".join(name for name in names if name not in placed)
            raise ChangeRefused(f"These items depend on each other in a circle: {rest}.", hint="Remove a dependency.")
        best = max(free, key=lambda item: (item["score"], -names.index(item["name"])))
        placed.add(best["name"])
        done.append({**best, "rank": len(done) + 1, "why": _why(best, scored, placed)})
    return [{"id": f"P{item['rank']}", **item} for item in done]


def score(framework: str, item: Mapping[str, Any]) -> float:
    missing = [name for name in NEEDED[framework] if not isinstance(item.get(name), int | float)]
    if missing:
        raise ChangeRefused(
            f"`{item.get('name')}` lacks {', '.join(missing)}.",
            hint=f"{framework} needs {', '.join(NEEDED[framework])}.",
        )
    values = [float(item[name]) for name in NEEDED[framework]]
    divisor = {"rice": values[-1], "cost_of_delay": values[-1], "ice": 1.0}[framework]
    if divisor <= 0:
        raise ChangeRefused(f"`{item.get('name')}` needs effort or duration above zero.", hint="Correct the number.")
    if framework == "cost_of_delay":
        return round(values[0] / divisor, 4)
    factors = values[:-1] if framework == "rice" else values
    product = 1.0
    for value in factors:
        product *= value
    return round(product / divisor, 4)


def _is_free(item: Json, placed: set[str]) -> bool:
    return all(on in placed for on in item.get("depends_on", ()))


def _why(item: Json, scored: Mapping[str, Json], placed: set[str]) -> str:
    waiting = [n for n, other in scored.items() if n not in placed and other["score"] > item["score"]]
    said = f"score {item['score']:g}"
    held = [name for name in waiting if item["name"] in scored[name].get("depends_on", ())]
    if held:
        return f"{said}; first because {', '.join(held)} depends on it"
    return f"{said}; {', '.join(waiting)} scores higher but has to wait" if waiting else said
