"""Artifacts of an exploration: one page, every sentence with the ids of its sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from forge.counts import counted
from forge.explore.errors import ChangeRefused
from forge.explore.knowledge import MODES
from forge.projects.skeleton import METRIC_KINDS, RISK_AREAS, STAKEHOLDER_ROLES

if TYPE_CHECKING:
    from forge.explore.assumption import Assumption
    from forge.explore.workbench import Workbench

MOST_WORDS = 600
FILES: Mapping[str, str] = {
    "problem_brief": "artifacts/problem_brief.md",
    "solution_evaluation_brief": "artifacts/solution_evaluation.md",
    "constraints": "artifacts/constraints.md",
    "value_estimate": "artifacts/value_estimate.md",
    "priorities": "artifacts/priorities.md",
}
OF_MODE = dict(zip(MODES, FILES, strict=True))
"""Which artifact a mode leads to."""
_SOURCES = re.compile(r"\[((?:[ATSMRCPD][0-9]+|O1)(?:, ?(?:[ATSMRCPD][0-9]+|O1))*)\]")
_AFTER_END = re.compile(r"([.!?])\s*(\[[^\]\n]+\])")
_SENTENCE = re.compile(r"(?<!e\.g\.)(?<!i\.e\.)(?<=[.!?])[\"”)*_]*\s+(?=[\"“(*_]?[A-Z0-9])")
_MARK = re.compile(r"^\s*(?:[-*+]|[0-9]+[.)])\s+")
_RULE = re.compile(r"^[\s|:-]*$")
_SHOWN = 8


def words(text: str) -> int:
    return len(re.findall(r"\b[\w’'-]+\b", _SOURCES.sub("", text)))


def known_sources(bench: Workbench) -> set[str]:
    """Ids that a sentence may cite."""
    found = {f"T{number}" for number in range(1, bench.turn + 1)} | set(bench.register.assumptions)
    skeleton = bench.skeleton
    groups = [(bench.group("stakeholders"), STAKEHOLDER_ROLES), (bench.group("success_metrics"), METRIC_KINDS)]
    entries = [each for group, names in groups for name in names for each in bench.items(group, name)]
    entries += [each for name in ("constraints", "risks", "priorities") for each in bench.items(skeleton, name)]
    found |= {str(each["id"]) for each in entries if isinstance(each, dict) and each.get("id")}
    saved = bench.values.get("org_context")
    has_context = isinstance(saved, dict) and any(saved.values())
    return found | set(bench.documents) | set(bench.citations) | ({"O1"} if has_context else set())


def sentences(text: str) -> Iterator[str]:
    """Of a Markdown text: headings, rules and code fences are none."""
    for line in text.splitlines():
        if line.lstrip().startswith(("#", "```")) or _RULE.match(line):
            continue
        whole = _AFTER_END.sub(r" \2\1", _MARK.sub("", line).strip().lstrip("> "))
        yield from (each.strip() for each in _SENTENCE.split(whole) if re.search(r"\w", each))


def checked(text: str, bench: Workbench) -> str:
    """The text, if it is one page and every sentence names sources that exist."""
    count = words(text)
    if not count:
        raise ChangeRefused("The artifact is empty.", hint="Write it, or leave `content` out.")
    if count > MOST_WORDS:
        raise ChangeRefused(f"The artifact has {counted(count, 'word')}; one page is {MOST_WORDS}.", hint="Shorten it.")
    known = known_sources(bench)
    wrong: list[str] = []
    for sentence in sentences(text):
        cited = {id_.strip() for found in _SOURCES.finditer(sentence) for id_ in found[1].split(",")}
        if not cited:
            wrong.append(f"no source: “{sentence[:80]}”")
        elif cited - known:
            wrong.append(f"unknown source {', '.join(sorted(cited - known))}: “{sentence[:80]}”")
    if wrong:
        listed = "\n".join(f"- {each}" for each in wrong[:6])
        raise ChangeRefused(
            f"{counted(len(wrong), 'sentence')} without a valid source:\n{listed}",
            hint="End each sentence with ids such as [A1, T3].",
        )
    return text if text.endswith("\n") else f"{text}\n"


def with_documents(text: str, bench: Workbench) -> str:
    """The text, and below it file and place of each passage that it cites."""
    named = {id_ for found in _SOURCES.finditer(text) for id_ in re.split(", ?", found[1]) if id_.startswith("D")}
    known = bench.citations
    lines = [f"- {known[id_]['place']} [{id_}]" for id_ in sorted(named, key=lambda id_: int(id_[1:])) if id_ in known]
    return f"{text.rstrip()}\n\n## Documents\n\n" + "\n".join(lines) + "\n" if lines else text


def composed(kind: str, bench: Workbench) -> str:
    """Written from the state alone. The least risky assumptions are left out until it is one page."""
    for most in range(_SHOWN, -1, -1):
        text = _WRITERS[kind](bench, most)
        if words(text) <= MOST_WORDS:
            return checked(text, bench)
    raise ChangeRefused(
        f"What is known takes more than {MOST_WORDS} words.", hint="Write `content` yourself, in fewer words."
    )


def sourced(text: str, *ids: str) -> str:
    """The text with its sources after each sentence."""
    named = ", ".join(dict.fromkeys(id_ for id_ in ids if id_))
    parts = [_SENTENCE_END.sub("", part) for part in _SENTENCE.split(" ".join(text.split())) if part.strip()]
    return " ".join(f"{part} [{named}]." for part in parts) if named else text


_SENTENCE_END = re.compile(r"[.!?…]+$")


def _said_in(bench: Workbench, sentence: str) -> str:
    """The message in which the person said these very words; empty where nobody did."""
    words = _plain(sentence)
    messages = [each for each in bench.values.get("messages", ()) if isinstance(each, dict)]
    texts = [_plain(str(each.get("content", ""))) for each in messages if each.get("role") == "user"]
    return next((f"T{number}" for number, text in enumerate(texts, 1) if words and words in text), "")


def _plain(text: str) -> str:
    return " ".join(_SENTENCE_END.sub("", text.strip()).casefold().split())


def _problem(bench: Workbench, most: int) -> str:
    skeleton = bench.skeleton
    statement = skeleton.get("problem_statement")
    if not statement:
        raise ChangeRefused("There is no problem statement yet.", hint="Call `update_problem_statement` first.")
    last = f"T{bench.turn}" if bench.turn else ""
    source = skeleton.get("problem_source") or last
    said = " ".join(sourced(part, _said_in(bench, part) or source) for part in _SENTENCE.split(statement))
    parts = ["# Problem brief", "", "## Problem", "", said]
    if skeleton.get("target_audience"):
        parts += _block("Who has it", [sourced(skeleton["target_audience"], skeleton.get("audience_source") or source)])
    findings = _findings(bench, "discover")
    parts += _block("What was found", [f"- {each}" for each in findings])
    people = [
        f"- {sourced(_person(each, role), str(each['id']))}"
        for role in STAKEHOLDER_ROLES
        for each in _entries(bench.items(bench.group("stakeholders"), role))
    ]
    parts += _block("Stakeholders", people)
    metrics = [
        f"- {sourced(_metric(each, kind), str(each['id']))}"
        for kind in METRIC_KINDS
        for each in _entries(bench.items(bench.group("success_metrics"), kind))
    ]
    parts += _block("What success means", metrics)
    outside = [f"- {sourced(str(each), source)}" for each in bench.items(skeleton, "not_about")]
    parts += _block("What this is not about", outside)
    return _page(parts, bench, most)


def _solution(bench: Workbench, most: int) -> str:
    skeleton = bench.skeleton
    if not skeleton.get("solution_name"):
        raise ChangeRefused("There is no solution yet.", hint="Call `set_solution_info` first.")
    source = skeleton.get("solution_source") or bench.source
    described = skeleton.get("solution_description") or ""
    parts = [
        "# Solution evaluation",
        "",
        "## Solution",
        "",
        sourced(f"{skeleton['solution_name']}: {described}", source),
    ]
    judged = bench.group("risk_assessment")
    areas = [
        f"- {sourced(_area(area, judged[area]), str(judged[area].get('source') or source))}"
        for area in RISK_AREAS
        if isinstance(judged.get(area), dict)
    ]
    parts += _block("Risk by area", areas)
    risks = [f"- {sourced(str(each.get('text')), str(each['id']))}" for each in _entries(skeleton.get("risks"))]
    parts += _block("Risks", risks[-12:])
    plan = [
        f"- {sourced(_step(each), str(each.get('assumption_id')))}"
        for each in bench.items(skeleton, "validation_plan")
        if isinstance(each, dict)
    ]
    parts += _block("Validation plan", plan)
    verdict = bench.group("go_no_go")
    if verdict.get("verdict"):
        by = str(verdict.get("source") or source)
        lines = [sourced(f"{str(verdict['verdict']).replace('_', ' ').capitalize()}: {verdict.get('reason', '')}", by)]
        lines += [f"- {sourced(f'Condition: {each}', by)}" for each in verdict.get("conditions", ())]
        lines += [f"- {sourced(f'Dealbreaker: {each}', by)}" for each in verdict.get("dealbreakers", ())]
        against = str(verdict.get("other_side") or "")
        lines += [f"- {sourced(f'Against it: {against}', by)}"] if against else []
        parts += _block("Verdict", lines)
    return _page(parts, bench, most)


def _constraints(bench: Workbench, most: int) -> str:
    known = _entries(bench.skeleton.get("constraints"))
    if not known:
        raise ChangeRefused("There are no constraints yet.", hint="Call `add_constraint` first.")
    lines = [f"- {sourced(_limit(each), str(each['id']))}" for each in known]
    return _page(["# Constraints", "", *lines], bench, most)


def _value(bench: Workbench, most: int) -> str:
    made = bench.skeleton.get("value_estimate")
    if not isinstance(made, dict) or "result" not in made:
        raise ChangeRefused("There is no estimate yet.", hint="Call `update_value_estimate` first.")
    source = str(made.get("source") or bench.source)
    unit = f" {made['unit']}" if made.get("unit") else ""
    ids = [id_ for each in made.get("inputs", ()) for id_ in each.get("assumptions", ())]
    parts = ["# Value estimate", "", sourced(f"{made['label']}: {made['result']:,g}{unit}", *ids)]
    parts.append("")
    parts += [sourced(f"Formula: {made['formula']}", source)]
    inputs = [f"- {sourced(_input(each), *each['assumptions'])}" for each in made.get("inputs", ())]
    parts += _block("Inputs", inputs)
    swings = [f"- {sourced(_swing(each), *each['assumptions'])}" for each in made.get("sensitivity", ())]
    parts += _block("Sensitivity", swings)
    return _page(parts, bench, most)


def _priorities(bench: Workbench, most: int) -> str:
    items = _entries(bench.skeleton.get("priorities"))
    if not items:
        raise ChangeRefused("There are no priorities yet.", hint="Call `set_priorities` first.")
    lines = [f"{each['rank']}. {sourced(_item(each), str(each['id']))}" for each in items]
    framework = str(bench.skeleton.get("priority_framework")).replace("_", " ")
    head = sourced(f"Ordered by {framework}", str(items[0]["id"]))
    return _page(["# Priorities", "", head, "", *lines], bench, most)


_WRITERS: Mapping[str, Callable[[Workbench, int], str]] = {
    "problem_brief": _problem,
    "solution_evaluation_brief": _solution,
    "constraints": _constraints,
    "value_estimate": _value,
    "priorities": _priorities,
}


def _page(parts: list[str], bench: Workbench, most: int) -> str:
    risks = bench.register.risks(bench.now.date())
    ranked = sorted(bench.register.assumptions.values(), key=lambda each: -risks[each.id])
    known = (each for each in ranked if each.claim)
    lines = [f"- {sourced(_claim(each), each.id)}" for each in known][:most]
    return "\n".join([*parts, *_block("Assumptions, riskiest first", lines)]) + "\n"


def _block(title: str, lines: Iterable[str]) -> list[str]:
    listed = list(lines)
    return ["", f"## {title}", "", *listed] if listed else []


def _findings(bench: Workbench, mode: str) -> list[str]:
    found: dict[str, str] = {}
    for each in bench.items(bench.routing, "probe_history"):
        if isinstance(each, dict) and each.get("mode") == mode and each.get("satisfied") and each.get("source"):
            name = str(each["probe"]).replace("_", " ").capitalize()
            found[name] = sourced(f"{name}: {each.get('finding', '')}", str(each["source"]))
    return list(found.values())


def _entries(items: Any) -> list[dict[str, Any]]:
    return [each for each in items if isinstance(each, dict) and each.get("id")] if isinstance(items, list) else []


def _person(each: Mapping[str, Any], role: str) -> str:
    note = f"; {each['note']}" if each.get("note") else ""
    name = str(each.get("name", ""))
    return f"{name[:1].upper()}{name[1:]}: {role.replace('_', ' ')}{note}"


def _area(area: str, judged: Mapping[str, Any]) -> str:
    by = f", confirmed by {judged['confirmed_by']}" if judged.get("confirmed_by") else ""
    loses = f"; {judged['who_loses']} loses" if judged.get("who_loses") else ""
    return f"{area.capitalize()}: {judged.get('level')} risk, {judged.get('confidence')}{by}{loses}"


def _step(each: Mapping[str, Any]) -> str:
    due = f", by {each['due']}" if each.get("due") else ""
    return f"{str(each.get('method')).replace('_', ' ').capitalize()}; passes if {each.get('pass_line')}{due}"


def _limit(each: Mapping[str, Any]) -> str:
    binding = ", the binding one" if each.get("binding") else ""
    return (
        f"{str(each.get('severity')).replace('_', ' ').capitalize()}, {each.get('kind')}{binding}: {each.get('text')}"
    )


def _metric(each: Mapping[str, Any], kind: str) -> str:
    return f"{kind.replace('_', ' ').capitalize()}: {each.get('text', '')}"


def _input(each: Mapping[str, Any]) -> str:
    return f"{each['name']}: {each['base']:,g} (from {each['low']:,g} to {each['high']:,g})"


def _swing(each: Mapping[str, Any]) -> str:
    return f"{each['input']} takes the result from {each['low']:,g} to {each['high']:,g}"


def _item(each: Mapping[str, Any]) -> str:
    return f"{each['name']}: {each['why']}"


def _claim(each: Assumption) -> str:
    known = f"{each.impact} impact, {each.confidence}, {each.status.replace('_', ' ')}"
    return f"{_SENTENCE_END.sub('', each.claim)} ({known}; test: {each.cheapest_test})"
