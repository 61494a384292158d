"""Conflicts that code can find after the tools of a turn ran, and what the severity table asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from forge.explore.assumption import Assumption
from forge.explore.register import Register
from forge.explore.workbench import Workbench
from forge.json_value import Json

LATE = 5
"""A decision authority who appears after this turn is late."""
_NEGATION = re.compile(r"\b(?:not|no|never|nobody|none|neither|without|cannot|\w+n['’]t)\b", re.IGNORECASE)
_SMALL = frozenset(
    """
    the a an and or of to in on for with is are was were be been that this these those it they we our their will
    would can could do does did has have had by at as from about because so very
    """.split()  # noqa: SIM905 - a list of words reads as words
)
_SAME = 0.6
_KEPT = 50


def found(bench: Workbench, before: Register, said: str, reported: Sequence[Json] = ()) -> tuple[Json, ...]:
    """New conflicts of this turn, with their severity and what follows; those that are silent are left out."""
    found_: list[Json] = [*_contradictions(bench, said, reported), *_collapses(bench, before)]
    if bench.turn > LATE or bench.routing.get("completed_modes"):
        named = (each for each in bench.changes if each.tool == "add_stakeholder")
        late = [each for each in named if "decision authority" in each.summary]
        found_ += [_conflict("late_authority", each.subjects[0], "high", each.summary) for each in late]
    if bench.skeleton.get("solution_name"):
        changed = {id_ for change in bench.changes for id_ in change.subjects}
        for each in bench.items(bench.skeleton, "constraints"):
            is_new = isinstance(each, dict) and (each.get("id") in changed or "solution" in changed)
            if is_new and each.get("severity") == "hard_blocker":
                text = f"{each['id']} blocks {bench.skeleton['solution_name']}: {each.get('text')}"
                found_.append(_conflict("hard_blocker", str(each["id"]), "high", text))
    known = {(each.get("kind"), each.get("subject")) for each in _kept(bench)}
    return tuple(each for each in found_ if (each["kind"], each["subject"]) not in known)


def record(bench: Workbench, conflicts: Sequence[Json]) -> None:
    """Keep them, and where one asks for the way back, propose it."""
    kept = bench.items(bench.routing, "conflicts")
    kept += [{**each, "turn": bench.turn} for each in conflicts]
    del kept[:-_KEPT]
    bench.routing["flags"] = [each.text for each in flags(bench)]
    back = next((each for each in conflicts if each["action"] == "way_back"), None)
    if back is not None and bench.values.get("active_mode") not in (None, "discover"):
        bench.routing["proposal"] = {"mode": "discover", "reason": back["text"], "turn": bench.turn}


class Flag:
    """What has to be dealt with before the mode is left."""

    def __init__(self, assumption: Assumption) -> None:
        self.id = assumption.id
        self.text = f"{assumption.id} is high impact and only guessed: {assumption.claim}"


def flags(bench: Workbench) -> tuple[Flag, ...]:
    open_ = ("active", "at_risk")
    found_ = (each for each in bench.register.assumptions.values() if each.status in open_)
    return tuple(Flag(each) for each in found_ if each.impact == "high" and each.confidence == "guessed")


def _collapses(bench: Workbench, before: Register) -> list[Json]:
    made: list[Json] = []
    for id_, now in bench.register.assumptions.items():
        then = before.assumptions.get(id_)
        if now.status != "invalidated" or (then is not None and then.status == "invalidated"):
            continue
        if now.impact == "low":
            continue
        resting = bench.register.resting_on(id_)
        at_risk = f"; at risk: {', '.join(sorted(resting, key=_number))}" if resting else ""
        made.append(_conflict("collapse", id_, now.impact, f"{id_} did not hold: {now.claim}{at_risk}"))
    return made


def _contradictions(bench: Workbench, said: str, reported: Sequence[Json]) -> list[Json]:
    made: list[Json] = []
    told = {str(each["assumption_id"]): str(each["statement"]) for each in reported}
    confirmed = (each for each in bench.register.assumptions.values() if each.status == "confirmed")
    for each in confirmed:
        statement = told.get(each.id) or next((s for s in _sentences(said) if contradicts(each.claim, s)), "")
        if statement and each.impact != "low":
            text = f"“{statement[:200]}” contradicts {each.id}, which was confirmed: {each.claim}"
            made.append(_conflict("contradiction", each.id, each.impact, text))
    return made


def contradicts(claim: str, sentence: str) -> bool:
    """About the same, and only one of the two says that it is not so."""
    mine, theirs = _words(claim), _words(sentence)
    if len(mine) < 2 or bool(_NEGATION.search(claim)) == bool(_NEGATION.search(sentence)):
        return False
    return len(mine & theirs) / len(mine) >= _SAME


def _conflict(kind: str, subject: str, severity: str, text: str) -> Json:
    action = "noted" if severity != "high" else "way_back" if kind == "collapse" else "ask"
    return {"kind": kind, "subject": subject, "severity": severity, "text": text, "action": action}


def _kept(bench: Workbench) -> list[dict[str, Any]]:
    return [each for each in bench.items(bench.routing, "conflicts") if isinstance(each, dict)]


def _words(text: str) -> set[str]:
    plain = _NEGATION.sub(" ", text.casefold())
    return {_stem(word) for word in re.findall(r"[\w-]+", plain) if word not in _SMALL and len(word) > 1}


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n+", text) if part.strip()]


def _number(id_: str) -> int:
    return int(id_[1:])
