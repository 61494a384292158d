"""The `phases` contract: what is built in which order, with ids for everything that has to be shown to be done.

## Phase 0 — Foundation

Objective: An empty service that starts.
Depends on: none
Touches: server/**, tests/**

### Deliverables

- D0.1: Tables for tasks [F2, entity:Task]

### Acceptance criteria

- A0.1: The migrations run on an empty database.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from forge.contracts import markdown
from forge.contracts.errors import ContractMissing, PhaseMissing
from forge.contracts.kinds import Finding, Kind
from forge.contracts.markdown import Item, Section
from forge.counts import counted

_HEADING = re.compile(r"Phase ([0-9]{1,3}) *(?:—|–|-|:) *(.+)", re.ASCII)
_FIELD = re.compile(r"(?:\*\*)?(Objective|Depends on|Touches):(?:\*\*)? *(.*)")
_REFERENCES = re.compile(r"(.*?) *\[([^\[\]]*)\]")
_DELIVERABLES, _CRITERIA, _NOTES = "Deliverables", "Acceptance criteria", "Notes"
_HEAD = ""
_PARTS = (_DELIVERABLES, _CRITERIA, _NOTES)
_FILE = Kind.PHASES.file


@dataclass(frozen=True, slots=True)
class Deliverable:
    """`references` are ids of other contracts: F1, P2, entity:Task, endpoint:listTasks."""

    id: str
    text: str
    references: tuple[str, ...] = ()
    line: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Criterion:
    id: str
    text: str
    line: int = field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Phase:
    """`text` is the phase as it was written, with its heading."""

    number: int
    name: str
    objective: str
    depends_on: tuple[int, ...]
    touches: tuple[str, ...]
    deliverables: tuple[Deliverable, ...]
    criteria: tuple[Criterion, ...]
    notes: str = ""
    line: int = field(default=1, compare=False)
    text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class PhasePlan:
    title: str
    phases: tuple[Phase, ...]
    findings: tuple[Finding, ...] = field(default=(), compare=False)


def parse(text: str) -> PhasePlan:
    document = markdown.parse(text)
    told: list[Finding] = []
    found = [phase for each in document.sections if (phase := _phase(each, told)) is not None]
    numbers = [each.number for each in found]
    for place, each in enumerate(found):
        if each.number != place:
            message = f"Phase {each.number} stands where phase {place} is expected."
            told.append(_finding("phase_number", each.line, message, "Number phases from 0, without gaps."))
    if not numbers:
        told.append(_finding("phases_missing", 1, "There is no phase.", "Write `## Phase 0 — name`, then what it is."))
    return PhasePlan(document.title, tuple(found), tuple(told))


def format(plan: PhasePlan) -> str:  # noqa: A001 - the counterpart of `parse`
    return "\n".join([f"# {plan.title}\n", *(formatted(each) for each in plan.phases)])


def formatted(phase: Phase) -> str:
    head = [
        f"## Phase {phase.number} — {phase.name}\n",
        f"Objective: {phase.objective}",
        f"Depends on: {', '.join(map(str, phase.depends_on)) or 'none'}",
        f"Touches: {', '.join(phase.touches)}".rstrip(),
    ]
    deliverables = [_deliverable_line(each) for each in phase.deliverables]
    criteria = [f"- {each.id}: {each.text}" for each in phase.criteria]
    parts = [f"\n### {_DELIVERABLES}\n", *deliverables, f"\n### {_CRITERIA}\n", *criteria]
    notes = [f"\n### {_NOTES}\n", phase.notes] if phase.notes else []
    return "\n".join([*head, *parts, *notes]) + "\n"


def window(text: str | None, number: int) -> str:
    """Phase `number` and the one after it, as they were written."""
    if text is None:
        raise ContractMissing("The project has no phases.", hint="Write contracts/phases.md first.")
    phases = parse(text).phases
    if not phases:
        raise ContractMissing("phases.md has no phase.", hint="Write `## Phase 0 — name`, then what it is.")
    wanted = [each for each in phases if each.number in (number, number + 1)]
    if not any(each.number == number for each in wanted):
        last = max(each.number for each in phases)
        raise PhaseMissing(
            f"There is no phase {number}.", hint=f"There are {counted(len(phases), 'phase')}: 0 to {last}."
        )
    return "\n\n".join(each.text for each in wanted) + "\n"


def _phase(section: Section, told: list[Finding]) -> Phase | None:
    matched = _HEADING.fullmatch(section.heading)
    if matched is None:
        message = f"The heading “{section.heading[:80]}” is no phase."
        told.append(_finding("phase_heading", section.line, message, "Write `## Phase 0 — name`."))
        return None
    number, name = int(matched[1]), matched[2].strip()
    parts = _parts(section, told)
    fields = _fields(*parts[_HEAD], told)
    for missing in ("Objective", "Depends on", "Touches"):
        if missing not in fields:
            message = f"Phase {number} does not say `{missing}:`."
            told.append(_finding("phase_field", section.line, message, "Write the line below the phase's heading."))
    depends = _depends(fields.get("Depends on", ("none", 1)), told)
    delivered = [_deliverable(each) for each in _items(parts, _DELIVERABLES, "D", number, told=told)]
    criteria = [Criterion(e.id, e.text, e.line) for e in _items(parts, _CRITERIA, "A", number, told=told)]
    touches = tuple(w for each in fields.get("Touches", ("", 1))[0].split(",") if (w := each.strip().strip("`")))
    return Phase(
        number,
        name,
        fields.get("Objective", ("", 1))[0],
        depends,
        touches,
        tuple(delivered),
        tuple(criteria),
        parts.get(_NOTES, ("", 1))[0],
        section.line,
        f"## Phase {number} — {name}\n\n{section.body}".rstrip(),
    )


def _parts(section: Section, told: list[Finding]) -> dict[str, tuple[str, int]]:
    """What is below each `###` heading, by the heading, with its first line; "" has what comes before them."""
    found: dict[str, tuple[list[str], int]] = {"": ([], section.first)}
    name = ""
    for number, line, is_code in markdown.lines(section.body):
        at = section.first + number - 1
        if not is_code and line.startswith("### "):
            name = line[4:].strip()
            if name not in _PARTS or name in found:
                hint = "Use Deliverables, Acceptance criteria and Notes, each once."
                told.append(_finding("phase_part", at, f"“{name[:80]}” is not expected here.", hint))
            found.setdefault(name, ([], at + 1))
        else:
            found[name][0].append(line)
    result: dict[str, tuple[str, int]] = {}
    for each, (body, first) in found.items():
        blank = next((count for count, line in enumerate(body) if line.strip()), 0)
        result[each] = ("\n".join(body[blank:]).rstrip(), first + blank)
    return result


def _fields(text: str, first: int, told: list[Finding]) -> dict[str, tuple[str, int]]:
    found: dict[str, tuple[str, int]] = {}
    last = ""
    for number, line, _ in markdown.lines(text):
        at = first + number - 1
        matched = _FIELD.fullmatch(line.rstrip())
        if matched:
            last = matched[1]
            found[last] = (matched[2].strip(), at)
        elif line.startswith("  ") and line.strip() and last:
            found[last] = (f"{found[last][0]} {line.strip()}".strip(), found[last][1])
        elif line.strip():
            hint = "Write it below `### Notes`, or indent it by two spaces if it continues the line before."
            told.append(_finding("phase_line", at, f"“{line.strip()[:60]}” has no place here.", hint))
    return found


def _depends(given: tuple[str, int], told: list[Finding]) -> tuple[int, ...]:
    text, line = given
    words = [word.strip().removeprefix("Phase ").strip() for word in text.split(",")]
    if words in (["none"], [""], ["None"], ["—"]):
        return ()
    if not all(re.fullmatch(r"[0-9]{1,3}", word, re.ASCII) for word in words):
        hint = "Write numbers of phases, as in `Depends on: 0, 1`, or `none`."
        told.append(_finding("phase_depends", line, f"`Depends on: {text[:60]}` names no phases.", hint))
        return ()
    return tuple(dict.fromkeys(int(word) for word in words))


def _items(
    parts: dict[str, tuple[str, int]], part: str, letter: str, number: int, *, told: list[Finding]
) -> list[Item]:
    """The items of a part, each with an id of this phase that no other one has."""
    body, first = parts.get(part, ("", parts[_HEAD][1]))
    found = markdown.items(body, first)
    listed = sum(each.startswith(("- ", "* ")) for _, each, is_code in markdown.lines(body) if not is_code)
    example = f"Write `- {letter}{number}.1: text`."
    if not found:
        told.append(_finding("phase_items", first, f"Phase {number} has no {part.lower()} with an id.", example))
    elif listed > len(found):
        told.append(_finding("phase_items", first, f"{part} of phase {number} have lines without an id.", example))
    seen: set[str] = set()
    for each in found:
        wanted = re.fullmatch(rf"{letter}{number}\.[1-9][0-9]*", each.id, re.ASCII)
        if wanted is None or each.id in seen:
            why = "is used twice" if each.id in seen else "is no id for this place"
            told.append(_finding("phase_item_id", each.line, f"{each.id} {why}.", example))
        seen.add(each.id)
    return found


def _deliverable(item: Item) -> Deliverable:
    matched = _REFERENCES.fullmatch(item.text)
    if matched is None:
        return Deliverable(item.id, item.text, (), item.line)
    names = tuple(name for each in matched[2].split(",") if (name := each.strip()))
    return Deliverable(item.id, matched[1], names, item.line)


def _deliverable_line(each: Deliverable) -> str:
    references = f" [{', '.join(each.references)}]" if each.references else ""
    return f"- {each.id}: {each.text}{references}"


def _finding(code: str, line: int, message: str, hint: str) -> Finding:
    return Finding(code, _FILE, line, message, hint)
