"""Parts of a contract, so that a reader need not take all of it: its outline by ids and names, a section, one id."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import yaml

from forge.contracts import contract, markdown
from forge.contracts.check import entities_of
from forge.contracts.directive import Directive
from forge.contracts.endpoints import endpoints_of
from forge.contracts.kinds import Kind
from forge.contracts.markdown import Document, Section
from forge.contracts.phases import PhasePlan

OUTLINE, IDS = "outline", "ids"
_DATA = {Kind.PHYSICS: ("paths", "components"), Kind.BOUNDARIES: ("layers", "allowed", "forbidden", "invariants")}
_ENTRY = re.compile(r"(?:[-*]|[0-9]+[.)]) +(.*)")
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_ENDS = re.compile(r" — | – |: |:$|[.;,](?: |$)| \(")
_LONGEST_NAME = 48


def outline(kind: Kind, text: str) -> str:
    """One line for each thing with an id or a name; what it says about them is left out."""
    value = contract.parse(kind, text).value
    match value:
        case PhasePlan():
            lines = [_phase_line(each) for each in value.phases]
        case Directive():
            lines = [f"order {', '.join(map(str, value.order))}", f"tests `{value.test_command}`"]
        case Document() if kind is Kind.SCHEMA:
            lines = [f"{name}: {', '.join(_fields(value, name))}" for name in entities_of(value) or ()]
            lines += [_section_line(each) for each in value.sections if each.heading != "Entities"]
        case Document():
            lines = [_section_line(each) for each in value.sections]
        case dict() if kind is Kind.PHYSICS:
            lines = _paths(value)
        case dict():
            lines = _boundaries(value)
        case _:
            lines = ["It cannot be read."]
    return "\n".join(lines) or "It is empty."


def ids(kind: Kind, text: str) -> str:
    """What later contracts may name: features, entities, operations, pages with an id; layers by their names."""
    value = contract.parse(kind, text).value
    match value:
        case PhasePlan():
            names = [f"{each.number} {each.name}" for each in value.phases]
        case Document() if kind is Kind.SCHEMA:
            names = list(entities_of(value) or ())
        case Document():
            found = [each for section in value.sections for each in markdown.items(section.body, 1)]
            names = [f"{each.id} {_name(each.text)}" for each in found]
        case dict() if kind is Kind.PHYSICS:
            names = [each.operation for each in endpoints_of(value)]
        case dict():
            names = [str(each.get("name")) for each in value.get("layers", ()) if isinstance(each, dict)]
        case _:
            names = []
    return ", ".join(names) or "It has no ids."


def always(kind: Kind) -> tuple[str, ...]:
    """Names of parts that a contract of this kind has, whatever it is about."""
    return _DATA.get(kind, kind.sections)


def parts(kind: Kind, text: str) -> tuple[str, ...]:
    """Headings of its sections, or names at its top."""
    if kind.form == "markdown":
        return tuple(each.heading for each in markdown.parse(text).sections)
    value = contract.parse(kind, text).value
    return tuple(value) if isinstance(value, dict) else ()


def part(kind: Kind, text: str, name: str) -> str | None:
    """The section under the heading `name`, or what has that id: a phase, a feature, a page, an entity, an endpoint."""
    if kind.form != "markdown":
        value = contract.parse(kind, text).value
        shown = _named(value, name) if isinstance(value, dict) else None
        if shown is None:
            return None
        dumped = json.dumps(shown, indent=1) if kind.form == "json" else yaml.safe_dump(shown, sort_keys=False)
        return dumped.rstrip()
    document = markdown.parse(text)
    section = document.section(name) or next(
        (each for each in document.sections if each.heading.casefold().startswith(f"phase {name.casefold()} ")), None
    )
    if section is not None:
        return f"## {section.heading}\n\n{section.body}"
    bodies = [each.body for each in document.sections]
    found = next((each for body in bodies for each in markdown.items(body, 1) if each.id == name), None)
    return f"- {found.id}: {found.text}" if found is not None else _below(bodies, name)


def _below(bodies: Sequence[str], name: str) -> str | None:
    """What is under the heading `### name`."""
    wanted = f"### {name}".casefold()
    for body in bodies:
        blocks = re.split(r"^(?=### )", body, flags=re.MULTILINE)
        found = next((each for each in blocks if each.partition("\n")[0].strip(" `").casefold() == wanted), None)
        if found is not None:
            return found.rstrip()
    return None


def _named(value: dict[str, Any], name: str) -> dict[str, Any] | None:
    """A part at its top, or one path, operation or shape of `physics`."""
    if name in value:
        return {name: value[name]}
    for each in endpoints_of(value):
        if name in (each.path, each.operation):
            operations = value["paths"][each.path]
            return {each.path: operations if name == each.path else {each.method: operations[each.method]}}
    components = value.get("components")
    shapes = components.get("schemas") if isinstance(components, dict) else None
    return {name: shapes[name]} if isinstance(shapes, dict) and name in shapes else None


def _phase_line(phase: Any) -> str:
    needs = f" after {', '.join(map(str, phase.depends_on))}" if phase.depends_on else ""
    named = [reference for each in phase.deliverables for reference in each.references]
    return f"{phase.number} {phase.name}{needs}: {', '.join(dict.fromkeys(named)) or 'no ids'}"


def _section_line(section: Section) -> str:
    """Its heading, how long it is, and the names in it."""
    return f"{section.heading} ({len(section.body):,}): {'; '.join(_names(section.body))}"


def _names(body: str) -> list[str]:
    """Ids with their names, else what the entries of a list or the rows of a table begin with, else how it begins."""
    ids = markdown.items(body, 1)
    if ids:
        return [f"{each.id} {each.text.partition(' — ')[0]}" for each in ids]
    rows = [line.strip() for line in body.splitlines()]
    entries = [found[1] for row in rows if (found := _ENTRY.match(row))]
    entries += [row.removeprefix("### ") for row in rows if row.startswith("### ")]
    # The first row of a table are its headings, the second one its rule.
    entries += [row.strip("| ").partition("|")[0] for row in [each for each in rows if each.startswith("|")][2:]]
    return [_name(each) for each in entries if each] or [_cut(" ".join(body.split()).partition(". ")[0])]


def _name(text: str) -> str:
    """Bold words, or the words before the first pause."""
    bold = _BOLD.match(text)
    name = bold[1] if bold else _ENDS.split(text, maxsplit=1)[0]
    return _cut(name.strip("*. "))


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME].rpartition(' ')[0]}…"


def _paths(value: dict[str, Any]) -> list[str]:
    found: dict[str, list[str]] = {}
    for each in endpoints_of(value):
        found.setdefault(each.path, []).append(f"{each.method.upper()} {each.operation}")
    return [f"{path}: {', '.join(operations)}" for path, operations in found.items()]


def _fields(document: Document, entity: str) -> Sequence[str]:
    section = document.section("Entities")
    found: list[str] = []
    inside = False
    for line in (section.body if section is not None else "").splitlines():
        if line.startswith("### "):
            inside = line[4:].strip(" `") == entity
        elif inside and line.startswith("|") and not line.startswith(("|---", "| field", "|-")):
            found.append(line.split("|")[1].strip())
    return found


def _boundaries(value: dict[str, Any]) -> list[str]:
    layers = [each for each in value.get("layers", ()) if isinstance(each, dict)]
    allowed = [each for each in value.get("allowed", ()) if isinstance(each, dict)]
    lines = [f"{each.get('name')}: {', '.join(map(str, each.get('paths', ())))}" for each in layers]
    lines.append("allowed " + ", ".join(f"{each.get('from')} → {each.get('to')}" for each in allowed))
    forbidden = [each for each in value.get("forbidden", ()) if isinstance(each, dict)]
    return [*lines, *(f"forbidden {each.get('layer', 'everywhere')}: {each.get('import')}" for each in forbidden)]
