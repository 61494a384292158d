"""Brain dump → intent: the person's sentences, sorted. Nothing is added but what a rule says, and it says so."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from forge.pipeline.intent import SECTIONS
from forge.pipeline.rules import naming
from forge.pipeline.rules.corrections import corrected, corrects
from forge.pipeline.rules.cues import NEEDS_A_PERSON, UNKNOWN, Sort, clauses, sorted_as
from forge.pipeline.rules.facts import contradictions
from forge.pipeline.rules.kinds import Judged, judged
from forge.pipeline.rules.sentences import bare, finished, sentences, words
from forge.pipeline.rules.tasks import thing_in

MAX_QUESTIONS = 5
_PROSE = frozenset({"", ".md", ".txt", ".rst", ".pdf", ".docx", ".html"})
_MOST_OF_A_RESOURCE = 40
_TELLING = 2
_LONGEST_LIST = 60
NOTHING = "By rule: nothing was said that could be an objective."
_RULES_SORTED = "Sorted by the built-in rules, not by a model."
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
    unknowns: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)


def distilled(material: Mapping[str, Any]) -> str:
    messages = [str(message) for message in material.get("brain_dump", ())]
    fixes = [str(correction) for correction in material.get("corrections", ())]
    own = "\n\n".join([*messages, *fixes])
    said = _corrected(_said(messages, material.get("resources", ())), fixes)
    kind = judged(own, str(material.get("chosen_type") or ""))
    found = _sorted(said)
    name = naming.typed_in("\n\n".join(fixes)) or str(material.get("name") or "").strip()
    name = name or naming.named(found.objective[0], own)
    return _document(_not_a_section(" ".join(name.split())), kind, found)


def _not_a_section(name: str) -> str:
    """A project called “Objective” would hide the section of that name."""
    shown = name.strip("*_`#: ")
    hides = any(shown.lower().startswith(title.lower().rstrip("s")) for title in SECTIONS)
    return f"Plan: {shown}" if hides else name


def question_on(unknown: str) -> str:
    quoted = unknown.strip()
    if quoted.endswith("?"):
        return f"You asked: “{quoted}” What is the answer?"
    either = re.search(r"\bor\b", quoted, re.I)
    return f"You wrote: “{quoted}” {'Which is it?' if either else 'What is decided?'}"


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
        Sort.UNKNOWN: found.unknowns,
    }
    for sentence in said:
        groups[sorted_as(sentence)].append(sentence)
    _have_an_objective(found, said)
    _begin_with_the_aim(found, said)
    asked = [unknown for unknown in found.unknowns if NEEDS_A_PERSON.search(unknown)]
    found.questions = [*_clashes(said), *(question_on(unknown) for unknown in asked)][:MAX_QUESTIONS]
    told = " ".join(found.questions)
    found.unknowns = [unknown for unknown in found.unknowns if unknown.strip() not in told]
    return found


def _have_an_objective(found: Sorted, said: list[str]) -> None:
    """Without a sentence that says what is wanted, the first one that says anything stands for it."""
    if found.objective:
        return
    telling = [one for one in said if len(words(one)) >= _TELLING and not UNKNOWN.search(one)]
    first = next(iter([*telling, *said]), "")
    for group in (found.assumptions, found.constraints, found.unknowns):
        if first in group:
            group.remove(first)
    found.objective.append(first or NOTHING)


def _begin_with_the_aim(found: Sorted, said: list[str]) -> None:
    """Where only things are wanted, the first sentence says what they are wanted for."""
    first = said[0] if said else ""
    if first in found.constraints and all(thing_in(one) for one in found.objective):
        found.constraints.remove(first)
        found.objective.insert(0, first)


def _clashes(said: list[str]) -> list[str]:
    pairs = contradictions(said)
    return [f"You wrote “{one.text}” and “{other.text}”. Which one counts?" for one, other in pairs]


def _document(name: str, kind: Judged, found: Sorted) -> str:
    taken = "a plan" if kind.kind == "plan" else kind.kind
    assumed = [] if kind.sure else [f"By rule: this is taken as {taken}, because the text does not say it outright."]
    dropped = len(found.unknowns) - _LONGEST_LIST
    assumed += (
        [f"By rule: {dropped} more unknowns were left out; nothing is decided about them."] if dropped > 0 else []
    )
    limits = " The rules write plans only: for code, choose a model." if kind.kind == "code" else ""
    bodies = {
        "Deliverable Type": f"{kind.kind.capitalize()}. {kind.reason} {_RULES_SORTED}{limits}",
        "Objective": " ".join(_most(found.objective)),
        "Assumptions": _list([*_most(found.assumptions), *assumed]),
        "Constraints": _list(_most(found.constraints)),
        "Unknowns": _list(found.unknowns[:_LONGEST_LIST]),
        "Open Questions": _list(found.questions),
    }
    return f"# {name}\n\n" + "\n\n".join(f"## {title}\n\n{body}" for title, body in bodies.items()) + "\n"


def _most(texts: list[str]) -> list[str]:
    """A long document must not drown what a person can still read through; what is left out is counted."""
    more = len(texts) - _LONGEST_LIST
    told = [f"By rule: {more} more sentences of this kind were left out here."] if more > 0 else []
    return [*texts[:_LONGEST_LIST], *told]


def _list(texts: list[str]) -> str:
    return "\n".join(f"- {text}" for text in texts) or "None"
