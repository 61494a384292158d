"""An outline: the person's sentences by section, numbered, what they decided, and every point that is still open.

Nothing in it is written by a rule: a sentence stays what it is, and is no step and no decision unless it says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from forge.builtin_rules.choices import said_in
from forge.builtin_rules.documents import Decided, Intent, decisions, own_decisions, read_intent
from forge.builtin_rules.facts import facts
from forge.builtin_rules.intake import WHAT_IS_WANTED
from forge.builtin_rules.section_choice import main_section
from forge.builtin_rules.sentences import bare, finished, stem
from forge.deliverables.plan.outlines import Point, Section, chosen, outline


@dataclass(frozen=True, slots=True)
class OpenPoint:
    """Something that is still to settle. `why` says where it comes from: a question, a belief, or the template."""

    text: str
    why: str


@dataclass(slots=True)
class Part:
    """A section of the outline."""

    title: str
    said: list[str] = field(default_factory=list)
    decided: list[str] = field(default_factory=list)
    open: list[OpenPoint] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Outlined:
    title: str
    template: str
    parts: tuple[Part, ...]

    @property
    def points(self) -> tuple[OpenPoint, ...]:
        return tuple(point for part in self.parts for point in part.open)

    @property
    def sentences(self) -> int:
        return sum(len(part.said) for part in self.parts)


def outlined(title: str, *, intent: str, spec: str) -> Outlined:
    """From what the person said and decided. A question that they left open is a point."""
    told, shape = read_intent(intent), outline(chosen(spec, intent))
    parts = {section.id: Part(section.title) for section in shape.sections}

    def at(sentence: str) -> Part:
        return parts[main_section(shape, sentence).id]

    for sentence in told.objective:
        parts[shape.sections[0].id].said.append(sentence)
    for sentence in (*told.background, *told.constraints):
        at(sentence).said.append(sentence)
    known = decisions(spec)
    for one in known:
        at(f"{one.asked} {one.answer}").decided.append(_decision(one))
    for sentence in own_decisions(spec):
        at(sentence).decided.append(finished(sentence))
    for point in _open_questions(told, known):
        part = parts[shape.sections[0].id] if point.text == WHAT_IS_WANTED else at(point.text)
        part.open.append(point)
    everything = " ".join((*told.said, *told.assumptions, *told.unknowns, *(f"{d.asked} {d.answer}" for d in known)))
    for section in shape.sections:
        parts[section.id].open += _unmentioned(section, everything)
    filled = tuple(part for part in parts.values() if part.said or part.decided or part.open)
    return Outlined(title, shape.name, filled)


def _decision(one: Decided) -> str:
    return f"{_asked(one.asked)} → {finished(one.answer)}"


def _asked(question: str) -> str:
    """A doubt that was quoted in a question stands there as the person wrote it."""
    quoted = said_in(question)
    return question if quoted == question or "” and “" in question else f"“{quoted}”"


def _open_questions(told: Intent, known: Sequence[Decided]) -> Iterator[OpenPoint]:
    answered = {_key(one.asked) for one in known}
    for question in dict.fromkeys((*told.questions, *told.unknowns)):
        if _key(question) not in answered:
            yield OpenPoint(_asked(question), "a question without an answer")
    for belief in told.assumptions:
        yield OpenPoint(f"Believed, and not verified: {belief}", "an assumption")


def _unmentioned(section: Section, everything: str) -> Iterator[OpenPoint]:
    kinds = {fact.kind.name for fact in facts(everything)}
    there = {stem(word) for word in re.findall(r"[^\W\d_]+", everything)}
    for point in section.points:
        if not _mentioned(point, kinds, there):
            text = bare(point.text)
            yield OpenPoint(f"{text[:1].upper()}{text[1:]}", f"the template asks for {section.subject}")


def _mentioned(point: Point, kinds: set[str], there: set[str]) -> bool:
    return any(word in kinds or stem(word) in there for word in point.words)


def _key(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


def rendered(made: Outlined) -> str:
    count = len(made.points)
    lines = [f"# {made.title}", "", f"Outline · {count} {'point' if count == 1 else 'points'} open"]
    number = 0
    for part in made.parts:
        lines += ["", f"## {part.title}"]
        if part.said:
            lines += ["", "**What you said**", ""]
            for sentence in part.said:
                number += 1
                lines.append(f"{number}. {sentence}")
        if part.decided:
            lines += ["", "**What you decided**", "", *(f"- {one}" for one in part.decided)]
        if part.open:
            lines += ["", "**Open**", "", *(f"- [ ] {point.text}" for point in part.open)]
    return "\n".join(lines) + "\n"
