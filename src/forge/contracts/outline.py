"""Parts of a contract, so that a reader need not take all of it: its outline by ids and names, or one section."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import yaml

from forge.contracts import contract, markdown
from forge.contracts.check import entities_of
from forge.contracts.directive import Directive
from forge.contracts.endpoints import endpoints_of
from forge.contracts.kinds import Kind
from forge.contracts.markdown import Document
from forge.contracts.phases import PhasePlan

OUTLINE = "outline"


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
        case Document():
            lines = [f"{each.heading}: {_names(each.body)}" for each in value.sections]
        case dict() if kind is Kind.PHYSICS:
            lines = [f"{each.method.upper()} {each.path} {each.operation}" for each in endpoints_of(value)]
        case dict():
            lines = _boundaries(value)
        case _:
            lines = ["It cannot be read."]
    return "\n".join(lines) or "It is empty."


def parts(kind: Kind, text: str) -> tuple[str, ...]:
    """Headings of its sections, or names at its top."""
    if kind.form == "markdown":
        return tuple(each.heading for each in markdown.parse(text).sections)
    value = contract.parse(kind, text).value
    return tuple(value) if isinstance(value, dict) else ()


def part(kind: Kind, text: str, name: str) -> str | None:
    """The section under the heading `name`; for phases its number is enough. None if there is none."""
    if kind.form != "markdown":
        value = contract.parse(kind, text).value
        if not isinstance(value, dict) or name not in value:
            return None
        shown = {name: value[name]}
        return json.dumps(shown, indent=1) if kind.form == "json" else yaml.safe_dump(shown, sort_keys=False)
    document = markdown.parse(text)
    section = document.section(name) or next(
        (each for each in document.sections if each.heading.casefold().startswith(f"phase {name.casefold()} ")), None
    )
    return f"## {section.heading}\n\n{section.body}" if section is not None else None


def _phase_line(phase: Any) -> str:
    needs = f" after {', '.join(map(str, phase.depends_on))}" if phase.depends_on else ""
    named = [reference for each in phase.deliverables for reference in each.references]
    return f"{phase.number} {phase.name}{needs}: {', '.join(dict.fromkeys(named)) or 'no ids'}"


def _names(body: str) -> str:
    ids = markdown.items(body, 1)
    if ids:
        return "; ".join(f"{each.id} {each.text.partition(' — ')[0]}" for each in ids)
    lines = [line.strip("-* ").strip() for line in body.splitlines() if line.strip()]
    bold = [line.partition(":")[0].strip("* ") for line in lines if ":" in line[:40]]
    names = bold if len(bold) == len(lines) else lines
    text = "; ".join(names)
    return text if len(text) <= 240 else f"{text[:239]}…"


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
