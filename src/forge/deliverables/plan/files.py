"""A plan in its project: the document that people read and edit, and its slots as data beside it."""

from __future__ import annotations

from forge.deliverables.plan.document import Plan, StructureChanged, from_json, parse, render
from forge.plugins.roles import Desk

MARKDOWN = "docs/plan.md"
JSON = "docs/plan.json"


def now(desk: Desk) -> Plan | str:
    """The plan as it is now, hand edits included; or, where its structure was changed by hand, what was changed."""
    text = desk.read(MARKDOWN) or ""
    kept = from_json(desk.read(JSON) or "")
    if kept and set(kept.slots) == set(kept.outline.slots) and all(kept.slots.values()) and render(kept) == text:
        return kept
    try:
        return parse(text, template=kept.template, sections=kept.sections) if kept else parse(text)
    except StructureChanged as changed:
        return changed.message
