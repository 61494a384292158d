"""Brain dump → intent: the person's sentences, sorted. Nothing is added and nothing is left out."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from forge.builtin_rules import project_name
from forge.builtin_rules.corrections import corrected, corrects
from forge.builtin_rules.cues import NAMES_A_THING, NEEDS_A_PERSON, Sort, clauses, sorted_as
from forge.builtin_rules.facts import contradictions
from forge.builtin_rules.kinds import Judged, judged
from forge.builtin_rules.sentences import bare, finished, sentences
from forge.projects.intent import SECTIONS

MAX_QUESTIONS = 5
_PROSE = frozenset({"", ".md", ".txt", ".rst", ".pdf", ".docx", ".html"})
_MOST_OF_A_RESOURCE = 40
NOT_SAID = "Nobody has said yet what the result should be."
WHAT_IS_WANTED = "What do you want to have in the end?"
BACKGROUND = "Background, in your words:"
_ABOUT_THE_FORM = re.compile(
    r"^(?:it|this|that|the deliverable)(?:[’']s| is| should be) (?:not )?(?:just |only )?(?:an? )?(?:plan"
    r"|document|code|software)\b(?:,? (?:and )?not (?:an? )?\w+)?$"
    r"|^(?:please )?(?:call it|name it|rename)\b|^(?:project )?(?:name|title)\s*:|^make (?:it"
    r"|this) (?:an? )?(?:plan|document)\b",
    re.I,
)


@dataclass(slots=True)
class Sorted:
    """What was said, by section."""

    objective: list[str] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    background: list[str] = field(default_factory=list)
    unknowns: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)


def distilled(material: Mapping[str, Any]) -> str:
    messages = [str(message) for message in material.get("brain_dump", ())]
    fixes = [str(correction) for correction in material.get("corrections", ())]
    own = "\n\n".join([*messages, *fixes])
    said = _corrected(_said(messages, material.get("resources", ())), fixes)
    kind = judged(own, str(material.get("chosen_type") or ""))
    found = _sorted(said)
    name = project_name.typed_in("\n\n".join(fixes)) or str(material.get("name") or "").strip()
    name = name or (project_name.named(found.objective[0], own) if found.objective else project_name.begun(own))
    return _document(_not_a_section(" ".join(name.split())), kind, found)


def _not_a_section(name: str) -> str:
    """A project called “Objective” would hide the section of that name."""
    shown = name.strip("*_`#: ")
    hides = any(shown.lower().startswith(title.lower().rstrip("s")) for title in SECTIONS)
    return f"Plan: {shown}" if hides else name


def question_on(unknown: str) -> str:
    """A question is asked in the person's own words; a doubt is quoted."""
    quoted = unknown.strip()
    return quoted if quoted.endswith(("?", "？")) else f"You wrote: “{quoted}” What is your answer?"


def _said(messages: list[str], resources: Any) -> list[str]:
    said: list[str] = []
    for message in messages:
        for sentence in sentences(message):
            if said and corrects(sentence):
                said = corrected(said, sentence)
            else:
                said += [finished(clause) for clause in clauses(sentence)]
    for resource in resources:
        said += _of_resource(str(resource.get("path", "")), str(resource.get("text", "")))
    return said


def _corrected(said: list[str], fixes: list[str]) -> list[str]:
    for fix in fixes:
        said = corrected(said, fix)
    return list(dict.fromkeys(one for one in said if not _ABOUT_THE_FORM.search(bare(one))))


def _of_resource(path: str, text: str) -> list[str]:
    """Prose counts like what was typed; code and tables are for agents that can read them."""
    if os.path.splitext(path)[1].lower() not in _PROSE:
        return []
    prose = [one for one in sentences(text) if len(one.split()) >= 3 and sum(c.isalpha() for c in one) > len(one) / 2]
    return prose[:_MOST_OF_A_RESOURCE]


def _sorted(said: list[str]) -> Sorted:
    found = Sorted()
    groups = {
        Sort.OBJECTIVE: found.objective,
        Sort.ASSUMPTION: found.assumptions,
        Sort.CONSTRAINT: found.constraints,
        Sort.BACKGROUND: found.background,
        Sort.UNKNOWN: found.unknowns,
    }
    for sentence in said:
        groups[sorted_as(sentence)].append(sentence)
    if not found.objective and found.background[:1] == said[:1] and said and NAMES_A_THING.search(said[0]):
        found.objective.append(found.background.pop(0))
    asked = [unknown for unknown in found.unknowns if NEEDS_A_PERSON.search(unknown)]
    first = [] if found.objective else [WHAT_IS_WANTED]
    found.questions = [*first, *_clashes(said), *(question_on(unknown) for unknown in asked)][:MAX_QUESTIONS]
    told = " ".join(found.questions)
    found.unknowns = [unknown for unknown in found.unknowns if unknown.strip() not in told]
    return found


def _clashes(said: list[str]) -> list[str]:
    pairs = contradictions(said)
    return [f"You wrote “{one.text}” and “{other.text}”. Which one counts?" for one, other in pairs]


def _document(name: str, kind: Judged, found: Sorted) -> str:
    wanted = " ".join(found.objective) or NOT_SAID
    numbered = "\n".join(f"{number}. {one}" for number, one in enumerate(found.background, 1))
    bodies = {
        "Deliverable Type": f"{kind.kind.capitalize()}. {kind.reason}",
        "Objective": f"{wanted}\n\n{BACKGROUND}\n\n{numbered}" if numbered else wanted,
        "Assumptions": _list(found.assumptions),
        "Constraints": _list(found.constraints),
        "Unknowns": _list(found.unknowns),
        "Open Questions": _list(found.questions),
    }
    return f"# {name}\n\n" + "\n\n".join(f"## {title}\n\n{body}" for title, body in bodies.items()) + "\n"


def _list(texts: list[str]) -> str:
    return "\n".join(f"- {text}" for text in texts) or "None"
