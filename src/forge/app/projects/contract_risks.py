"""Assumptions of the explorer in contracts: the risks they are written with, and what rests on one that broke."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from forge.contracts.kinds import ORDER, Finding, Kind
from forge.projects.project import Project

_CITED = re.compile(r"\[(A[1-9][0-9]*)\]")
_BROKEN = {"invalidated": "does not hold", "at_risk": "may not hold any more"}


def risks_of(project: Project) -> tuple[str, ...]:
    """High-impact assumptions that nobody validated, each with its id."""
    from forge.explore.workbench import Workbench  # noqa: PLC0415 - loads the explorer, which few projects have used

    known = Workbench.of(project.state()).register.assumptions.values()
    open_ = (e for e in known if e.impact == "high" and e.confidence != "validated" and e.status != "invalidated")
    return tuple(f"{each.claim.rstrip('.')} [{each.id}]" for each in open_)


def broken_ground_of(project: Project, texts: Mapping[Kind, str]) -> Iterator[Finding]:
    """Lines of contracts that cite an assumption which does not hold."""
    cited = [
        (kind, number, found[1])
        for kind in ORDER
        for number, line in enumerate(texts.get(kind, "").split("\n"), 1)
        for found in _CITED.finditer(line)
    ]
    if not cited:
        return
    from forge.explore.workbench import Workbench  # noqa: PLC0415 - as above

    known = Workbench.of(project.state()).register.assumptions
    for kind, line, id_ in cited:
        each = known.get(id_)
        if each is not None and each.status in _BROKEN:
            claim = each.claim if len(each.claim) <= 120 else f"{each.claim[:119]}…"
            message = f"{id_} {_BROKEN[each.status]}: {claim}"
            hint = "Change what rests on it, or take the reference away."
            yield Finding("assumption_broken", kind.file, line, message, hint)
