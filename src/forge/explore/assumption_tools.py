"""Tools on the assumption register: register, change status, change what is known."""

from __future__ import annotations

from typing import Any

from forge.explore.assumption import CONFIDENCES, IMPACTS, STATUSES, TYPES
from forge.explore.errors import ChangeRefused
from forge.explore.schema import ID, IDS, TEXTS, listed, members, one_of, text, tool
from forge.explore.workbench import Done, Workbench
from forge.json_value import Json

_DAY = {"type": "string", "description": "YYYY-MM-DD", "minLength": 10, "maxLength": 10}
_EVIDENCE = listed(
    members(
        "source",
        source=text("Who or what says so."),
        date=_DAY,
        strength=one_of(("weak", "medium", "strong")),
    ),
    most=20,
)
_MORE: dict[str, Json] = {
    "evidence_for": _EVIDENCE,
    "evidence_against": _EVIDENCE,
    "owner": text("Who finds out.", most=200),
    "test": members(
        "method pass_line",
        method=text("The cheapest test."),
        pass_line=text("What counts as a pass, set before the result."),
        due=_DAY,
    ),
    "expires": _DAY,
    "depends_on": {**IDS, "description": "Assumptions that this one rests on."},
}


def _register(bench: Workbench, given: Json) -> Done:
    names = ("type", "impact", "confidence", "basis", "surfaced_by", "recommended_action")
    fields: dict[str, Any] = {key: given[key] for key in names if key in given}
    fields["implied_stakeholders"] = tuple(given.get("implied_stakeholders", ()))
    fields["source"] = bench.source
    fields |= _more(given)
    rests_on = fields.pop("depends_on", ())
    register, made = bench.register.added(given["claim"], depends_on=rests_on, **fields)
    bench.register = register
    shaken = " It is at risk: what it rests on is invalidated or at risk." if made.status == "at_risk" else ""
    said = f"{made.id} registered: {made.claim.rstrip('.')} ({made.impact} impact, {made.confidence}).{shaken}"
    return Done(said, (made.id,))


def _set_status(bench: Workbench, given: Json) -> Done:
    id_, status = given["assumption_id"], given["status"]
    before = bench.register.get(id_)
    register, shaken = bench.register.with_status(id_, status)
    bench.register = register
    said = f"{id_} is {status.replace('_', ' ')} (was {before.status.replace('_', ' ')})."
    now = register.get(id_)
    if now.confidence != before.confidence:
        said += f" Its confidence is {now.confidence} now."
    if shaken:
        said += f" At risk because they rest on it: {', '.join(shaken)}."
    return Done(said, (id_, *shaken))


def _set_confidence(bench: Workbench, given: Json) -> Done:
    id_ = given["assumption_id"]
    before = bench.register.get(id_)
    fields: dict[str, Any] = {key: given[key] for key in ("confidence", "impact", "basis") if key in given}
    fields |= _more(given)
    for name in ("evidence_for", "evidence_against"):
        if name in fields:
            fields[name] = (*getattr(before, name), *fields[name])
    if not fields:
        raise ChangeRefused("There is nothing to change.", hint="Give `confidence`, evidence, a test or an owner.")
    against = fields.get("evidence_against", before.evidence_against)
    for_ = fields.get("evidence_for", before.evidence_for)
    if fields.get("confidence") == "validated" and not (for_ or given.get("basis")):
        raise ChangeRefused(
            f"{id_} cannot be validated without evidence.", hint="Give `evidence_for` with its source, or a `basis`."
        )
    bench.register = bench.register.changed(id_, **fields)
    now = bench.register.get(id_)
    said = f"{id_}: {now.confidence}, {now.impact} impact (was {before.confidence}, {before.impact})."
    if now.confidence == "validated" and against:
        said += f" {len(against)} piece(s) of evidence speak against it."
    return Done(said, (id_,))


def _more(given: Json) -> dict[str, Any]:
    return {key: tuple(given[key]) if isinstance(given[key], list) else given[key] for key in _MORE if key in given}


TOOLS = (
    tool(
        "register_assumption",
        "Note something that is taken for true and not yet shown. Gives its id.",
        _register,
        "claim type impact confidence basis",
        claim=text("One sentence.", most=500),
        type=one_of(TYPES),
        impact=one_of(IMPACTS, "How much falls if it is wrong."),
        confidence=one_of(CONFIDENCES),
        basis=text("On what it rests: who said so, what was measured."),
        surfaced_by=text("The probe or pattern that brought it up.", most=100),
        recommended_action=text(),
        implied_stakeholders=TEXTS,
        **_MORE,
    ),
    tool(
        "update_assumption_status",
        "Set the status of an assumption. Invalidating it puts all that rests on it at risk.",
        _set_status,
        "assumption_id status",
        assumption_id=ID,
        status=one_of(STATUSES),
    ),
    tool(
        "update_assumption_confidence",
        "Change what is known about an assumption: confidence, evidence for and against, owner, test, expiry.",
        _set_confidence,
        "assumption_id",
        assumption_id=ID,
        confidence=one_of(CONFIDENCES),
        impact=one_of(IMPACTS),
        basis=text(),
        **_MORE,
    ),
)
