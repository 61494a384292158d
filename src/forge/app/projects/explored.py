"""What an exploration hands on to the pipeline, and what in a project rests on an assumption that broke later."""

from __future__ import annotations

import re

from forge.explore import brief
from forge.explore.assumption import Assumption
from forge.explore.errors import ChangeRefused
from forge.explore.workbench import Workbench
from forge.json_value import Json
from forge.pipeline.desk import INTENT, SPEC
from forge.pipeline.journey import Explored
from forge.projects.project import Project

HANDED_OVER = "handed_over"
"""In the routing context: the turn in which the person made the exploration the brain dump."""
_ORIGIN = re.compile(r"\[(A[1-9][0-9]*)\]")


def explored_of(project: Project) -> Explored:
    """Nothing, unless the person made the exploration the brain dump."""
    bench = Workbench.of(project.state())
    return handed_on(bench) if bench.routing.get(HANDED_OVER) else Explored()


def handed_on(bench: Workbench) -> Explored:
    known = [each for each in bench.register.assumptions.values() if each.status != "invalidated"]
    open_ = [each for each in known if each.impact == "high" and each.confidence != "validated"]
    limits = [
        f"{str(each.get('text')).rstrip('.')} [{each['id']}]"
        for each in bench.items(bench.skeleton, "constraints")
        if isinstance(each, dict) and each.get("id")
    ]
    return Explored(
        text=_text(bench),
        constraints=tuple(limits),
        assumptions=tuple(_line(each) for each in known if each not in open_),
        unknowns=tuple(f"Does it hold: {_line(each)}" for each in open_),
    )


def _line(each: Assumption) -> str:
    return f"{each.claim.rstrip('.')} [{each.id}]"


def _text(bench: Workbench) -> str:
    """Problem brief and evaluation as far as they can be written."""
    parts: list[str] = []
    for kind in ("problem_brief", "solution_evaluation_brief"):
        try:
            parts.append(brief.composed(kind, bench))
        except ChangeRefused:  # it has nothing to tell yet
            continue
    return "\n\n".join(parts)


def broken_ground(project: Project) -> tuple[Json, ...]:
    """Assumptions that documents of the project rest on and that do not hold any more, or may not."""
    register = Workbench.of(project.state()).register
    found: list[Json] = []
    for path in (INTENT, SPEC):
        place = project.directory / path
        text = place.read_text("utf-8", "replace") if place.is_file() else ""
        for id_ in dict.fromkeys(_ORIGIN.findall(text)):
            each = register.assumptions.get(id_)
            if each is not None and each.status in ("invalidated", "at_risk"):
                found.append({"id": id_, "claim": each.claim, "status": each.status, "document": path})
    return tuple(found)
