"""Tools that frame the problem: statement, audience, stakeholders, metrics, criteria, constraints, team context."""

from __future__ import annotations

from typing import Any

from forge.explore.errors import ChangeRefused
from forge.explore.schema import IDS, TEXTS, one_of, text, tool
from forge.explore.workbench import Done, Workbench
from forge.json_value import Json
from forge.projects.context_file import OrgContext
from forge.projects.skeleton import METRIC_KINDS, STAKEHOLDER_ROLES

CONSTRAINT_KINDS = ("technical", "organisational", "resource", "regulatory")
SEVERITIES = ("hard_blocker", "negotiable", "soft")

_WORDS_OF_A_NAME = 3
_OF_A_GROUP = frozenset(
    (
        "the",
        "our",
        "a",
        "an",
        "of",
        "head",
        "team",
        "board",
        "department",
        "manager",
        "lead",
        "director",
        "group",
        "all",
    )
)
"""Words of groups and roles: the sales team is not the person Sales."""


def _problem(bench: Workbench, given: Json) -> Done:
    bench.skeleton.update(problem_statement=given["statement"].strip(), problem_source=bench.source)
    for name in ("why_now", "field_reality", "value_hypothesis"):
        if name in given:
            bench.skeleton[name] = given[name]
    if "not_about" in given:
        bench.skeleton["not_about"] = list(given["not_about"])
    for side, seen in given.get("edges", {}).items():
        bench.group("edge_map")[side] = seen
    return Done("The problem statement is updated.", ("problem",))


def _audience(bench: Workbench, given: Json) -> Done:
    bench.skeleton.update(target_audience=given["audience"].strip(), audience_source=bench.source)
    return Done("The target audience is updated.", ("audience",))


def _stakeholder(bench: Workbench, given: Json) -> Done:
    groups = bench.group("stakeholders")
    everybody = [each for role in STAKEHOLDER_ROLES for each in bench.items(groups, role)]
    name, role = given["name"].strip(), given["role"]
    same = [each for each in everybody if isinstance(each, dict) and _is_same_person(str(each.get("name")), name)]
    if len({_named(each) for each in same}) == 1:  # of two whose name it could be, nobody knows which is meant
        name = max(name, str(same[0]["name"]), key=len)
        longer = [each for each in same if each["name"] != name]
        for each in longer:
            each["name"] = name
        if longer and any(each in bench.items(groups, role) for each in longer):
            return Done(f"{longer[0]['id']}: the full name is {name}.", (str(longer[0]["id"]),))
    if any(_named(each) == name.casefold() for each in bench.items(groups, role)):
        raise ChangeRefused(f"{name} is known as {role} already.", hint="Nothing has to be done.")
    id_ = f"S{_next(everybody, 'S')}"
    bench.items(groups, role).append(
        {"id": id_, "name": name, "note": given.get("note", ""), "source": bench.source, "turn": bench.turn}
    )
    return Done(f"{id_}: {name} noted as {role.replace('_', ' ')}.", (id_,))


def _is_same_person(one: str, other: str) -> bool:
    """Anna and Anna Berg: the short one is the first name or the last name of the long one."""
    short, long = sorted((one.casefold().split(), other.casefold().split()), key=len)
    is_name = one[:1].isupper() and other[:1].isupper() and len(short) == 1 and 1 < len(long) <= _WORDS_OF_A_NAME
    return is_name and short[0] in (long[0], long[-1]) and not _OF_A_GROUP & set(long)


def _metrics(bench: Workbench, given: Json) -> Done:
    groups = bench.group("success_metrics")
    made: list[str] = []
    for kind in METRIC_KINDS:
        for metric in given.get(kind, ()):
            everything = [each for other in METRIC_KINDS for each in bench.items(groups, other)]
            if any(_said(each) == metric.strip().casefold() for each in bench.items(groups, kind)):
                continue
            made.append(f"M{_next(everything, 'M')}")
            bench.items(groups, kind).append({"id": made[-1], "text": metric.strip(), "source": bench.source})
    if not made:
        raise ChangeRefused("No new metric was given.", hint="Give `leading`, `lagging` or `anti_metric`.")
    return Done(f"New metrics: {', '.join(made)}.", tuple(made))


def _criteria(bench: Workbench, given: Json) -> Done:
    groups = bench.group("decision_criteria")
    added = 0
    for kind in ("proceed_if", "do_not_proceed_if"):
        for criterion in given.get(kind, ()):
            bench.items(groups, kind).append({"text": criterion, "source": bench.source})
            added += 1
    if not added:
        raise ChangeRefused("No criterion was given.", hint="Give `proceed_if` or `do_not_proceed_if`.")
    return Done(f"{added} criteria noted.", ("criteria",))


def _constraint(bench: Workbench, given: Json) -> Done:
    known = bench.items(bench.skeleton, "constraints")
    for id_ in given.get("assumptions", ()):
        bench.register.get(id_)
    id_ = f"C{_next(known, 'C')}"
    made = {
        "id": id_,
        "text": given["constraint"].strip(),
        "kind": given["kind"],
        "severity": given["severity"],
        "binding": bool(given.get("binding", False)),
        "assumptions": list(given.get("assumptions", ())),
        "source": bench.source,
    }
    if made["binding"]:
        for each in known:
            each["binding"] = False
    known.append(made)
    return Done(f"{id_}: {made['severity'].replace('_', ' ')}, {made['kind']}: {made['text']}", (id_,))


def _context(bench: Workbench, given: Json) -> Done:
    parts = {name: given[name].strip() for name in OrgContext.__slots__ if name in given}
    if not parts:
        raise ChangeRefused("No team context was given.", hint="Give `company`, `domain` or one of the contexts.")
    bench.context |= parts
    saved = bench.values.get("org_context")
    bench.values["org_context"] = {**(saved if isinstance(saved, dict) else {}), **parts}
    return Done(f"Team context noted: {', '.join(parts)}.", ("context",))


def _next(items: list[Any], letter: str) -> int:
    numbers = (str(each.get("id", "")).removeprefix(letter) for each in items if isinstance(each, dict))
    return max((int(number) for number in numbers if number.isdigit()), default=len(items)) + 1


def _named(entry: object) -> str:
    return str(entry.get("name", "") if isinstance(entry, dict) else entry).strip().casefold()


def _said(entry: object) -> str:
    return str(entry.get("text", "") if isinstance(entry, dict) else entry).strip().casefold()


_EDGE: Json = {
    "type": "object",
    "properties": dict.fromkeys(("upstream", "downstream", "adjacent", "in_time"), TEXTS),
    "additionalProperties": False,
}
TOOLS = (
    tool(
        "update_problem_statement",
        "Set the problem in two to three sentences, without a solution in it, and what it is not about.",
        _problem,
        "statement",
        statement=text(most=1500),
        not_about=TEXTS,
        why_now=text(),
        field_reality=text(),
        value_hypothesis=text(),
        edges=_EDGE,
    ),
    tool("update_target_audience", "Say who has the problem.", _audience, "audience", audience=text(most=500)),
    tool(
        "add_stakeholder",
        "Note a person or group by its role.",
        _stakeholder,
        "name role",
        name=text(most=200),
        role=one_of(STAKEHOLDER_ROLES),
        note=text(most=500),
    ),
    tool(
        "update_success_metrics",
        "Add metrics: leading, lagging, and the anti-metric that must not get worse.",
        _metrics,
        leading=TEXTS,
        lagging=TEXTS,
        anti_metric=TEXTS,
    ),
    tool("add_decision_criteria", "Add what decides.", _criteria, proceed_if=TEXTS, do_not_proceed_if=TEXTS),
    tool(
        "add_constraint",
        "Note a limit and how hard it is. `binding` marks the one that limits most.",
        _constraint,
        "constraint kind severity",
        constraint=text(most=500),
        kind=one_of(CONSTRAINT_KINDS),
        severity=one_of(SEVERITIES),
        binding={"type": "boolean"},
        assumptions=IDS,
    ),
    tool(
        "update_org_context",
        "Keep what was said about company, domain and team. It is written into context.md.",
        _context,
        company=text(most=200),
        domain=text(most=200),
        public_context=text(most=20_000),
        internal_context=text(most=20_000),
    ),
)
