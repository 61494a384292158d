"""A plan as data and as Markdown: rendered from slots, parsed back, and refused where the structure is not whole."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources

from jinja2 import StrictUndefined, Template
from jinja2.sandbox import SandboxedEnvironment

from forge.deliverables.plan import markdown_escape
from forge.deliverables.plan.outlines import COLUMNS, FALLBACK, NAMES, PARTS, Outline, Section, agreed, outline
from forge.errors import Conflict, InvalidInput

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*")
_DIVIDER = re.compile(r"\|?(?:\s*:?-+:?\s*\|)+\s*(?::?-+:?\s*)?")
# What a person may add by hand and a slot cannot hold: it would be lost as text if it were rendered again.
_BEYOND_A_SLOT = re.compile(r"(?m)^ {0,3}(?:#{1,6}\s|```|~~~|\|)|(?<!\\)<(?:!--|/?[a-z])|^\s*\|?[\s:|-]*-\|[\s:|-]*$")
_TEMPLATE = re.compile(r"Template: ([a-z]+)")


class StructureChanged(Conflict):
    code = "plan_structure_changed"


class PlanIncomplete(InvalidInput):
    code = "plan_incomplete"


@dataclass(frozen=True, slots=True)
class Plan:
    """The template, the title and the text of every slot; `sections` where others than the template's were agreed."""

    template: str
    title: str
    slots: Mapping[str, str] = field(default_factory=dict)
    sections: tuple[str, ...] = ()

    @property
    def outline(self) -> Outline:
        return agreed(outline(self.template), self.sections)

    def with_slots(self, changed: Mapping[str, str]) -> Plan:
        return tidy(replace(self, slots={**self.slots, **changed}))


class _Written(str):
    """Markdown already; everything else is escaped on its way into the document."""

    __slots__ = ()


def tidy(plan: Plan) -> Plan:
    """The plan as its document keeps it, so that reading it back gives the same values."""
    slots = {slot: _tidy_slot(slot, plan.slots[slot]) for slot in plan.outline.slots if slot in plan.slots}
    return replace(plan, title=" ".join(markdown_escape.tidy_cell(plan.title).split()) or "Plan", slots=slots)


def _tidy_slot(slot: str, text: str) -> str:
    return markdown_escape.tidy_block(text) if slot.endswith(".details") else markdown_escape.tidy_cell(text)


def render(plan: Plan) -> str:
    """The document. Slots are values: nothing in them is ever read as template or as structure."""
    plan = tidy(plan)
    sections = [
        {"title": one.title, **{part: plan.slots[f"{one.id}.{part}"] for part in PARTS}}
        for one in plan.outline.sections
        if _whole(plan, one)
    ]
    text = _layout().render(title=plan.title, template=plan.template, sections=sections, columns=COLUMNS)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _whole(plan: Plan, section: Section) -> bool:
    empty = [slot for slot in section.slots if not plan.slots.get(slot)]
    if empty:
        raise PlanIncomplete(f"These slots of the plan are empty: {', '.join(empty)}.", hint="Give each a text.")
    return True


def parse(text: str, *, template: str = "", sections: tuple[str, ...] = ()) -> Plan:
    """The plan that a document holds, hand edits included; `sections` are those that were agreed on."""
    lines = text.replace("\r\n", "\n").split("\n")
    named = next((found[1] for line in lines if (found := _TEMPLATE.fullmatch(line.strip()))), template)
    shape = agreed(outline(named if named in NAMES else FALLBACK), sections)
    parts = _by_heading(lines)
    titles = [markdown_escape.from_cell(heading) for heading, _ in parts[1:]]
    wanted = [f"## {section.title}" for section in shape.sections]
    if not parts[0][0].startswith("# ") or titles != wanted:
        raise _changed(_difference(titles, wanted) if parts[0][0].startswith("# ") else "its first line is no title")
    slots: dict[str, str] = {}
    for section, (_, body) in zip(shape.sections, parts[1:], strict=True):
        slots |= _slots(section, body)
    return tidy(Plan(shape.name, markdown_escape.from_cell(parts[0][0][2:]), slots, sections))


def _by_heading(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Each heading with the lines under it; what is before the first one is under an empty heading."""
    parts: list[tuple[str, list[str]]] = []
    for line in lines:
        found = _HEADING.fullmatch(line)
        if found:
            parts.append((f"{found[1]} {found[2]}", []))
        elif parts:
            parts[-1][1].append(line)
        elif line.strip():
            parts.append(("", [line]))
    return parts or [("", [])]


def _difference(titles: list[str], wanted: list[str]) -> str:
    gone = [title.lstrip("# ") for title in wanted if title not in titles]
    new = [title.lstrip("# ") for title in titles if title not in wanted]
    told = ([f"missing: {', '.join(gone)}"] if gone else []) + ([f"new: {', '.join(new)}"] if new else [])
    return f"its headings differ ({'; '.join(told) or 'another order'})"


def _slots(section: Section, body: list[str]) -> dict[str, str]:
    table = [line for line in body if line.strip()][:3]
    if len(table) < 3 or markdown_escape.cells(table[0]) != list(COLUMNS) or not _DIVIDER.fullmatch(table[1].strip()):
        raise _changed(f"the table of “{section.title}” is not where it was")
    values = markdown_escape.cells(table[2])
    details = "\n".join(body[body.index(table[2]) + 1 :])
    if len(values) != len(COLUMNS) or _BEYOND_A_SLOT.search(markdown_escape.without_code(details)):
        raise _changed(f"“{section.title}” holds more than its table with one row, paragraphs and lists")
    texts = [*(markdown_escape.from_cell(value) for value in values), markdown_escape.from_block(details)]
    return dict(zip(section.slots, texts, strict=True))


def _changed(what: str) -> StructureChanged:
    return StructureChanged(
        f"The structure of the plan was changed: {what}.",
        hint="Put the headings and tables back as the template has them, or continue with the document as it is.",
    )


def to_json(plan: Plan) -> str:
    value = {"version": 1, "template": plan.template, "title": plan.title, "slots": dict(plan.slots)}
    if plan.sections:
        value["sections"] = list(plan.sections)
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def from_json(text: str) -> Plan | None:
    """None where the text is no plan; then the document alone counts."""
    try:
        value = json.loads(text)
        plan = Plan(value["template"], value["title"], dict(value["slots"]), tuple(value.get("sections", ())))
    except (ValueError, TypeError, KeyError):
        return None
    texts = (*plan.slots.values(), *plan.sections)
    return tidy(plan) if plan.template in NAMES and all(isinstance(text, str) for text in texts) else None


@cache
def _layout() -> Template:
    source = resources.files(__package__).joinpath("templates", "layout.md.j2").read_text("utf-8")
    environment = SandboxedEnvironment(
        undefined=StrictUndefined, finalize=_finalized, trim_blocks=True, keep_trailing_newline=True, autoescape=False
    )
    environment.filters |= {"block": lambda text: _Written(markdown_escape.block(text)), "written": _Written}
    return environment.from_string(source)


def _finalized(value: object) -> object:
    return value if isinstance(value, _Written) or not isinstance(value, str) else markdown_escape.cell(value)
