"""The documents of a project as the rules read them: what a person said, and what they decided since."""

from __future__ import annotations

import re
from dataclasses import dataclass

from forge.builtin_rules.facts import facts
from forge.builtin_rules.intake import BACKGROUND, NOT_SAID
from forge.builtin_rules.sentences import bare, finished, sentences
from forge.deliverables.plan.review import section_text
from forge.projects.intent import items

_DECIDED = re.compile(r"^Decided: (?P<answer>.+?) \(asked: (?P<asked>.+)\)\.?$")


@dataclass(frozen=True, slots=True)
class Intent:
    name: str
    objective: tuple[str, ...]
    background: tuple[str, ...]
    assumptions: tuple[str, ...]
    constraints: tuple[str, ...]
    unknowns: tuple[str, ...]
    questions: tuple[str, ...]

    @property
    def said(self) -> tuple[str, ...]:
        """The sentences of the person, except those that leave something open."""
        return (*self.objective, *self.background, *self.constraints)


@dataclass(frozen=True, slots=True)
class Decided:
    """A person's answer to a question."""

    answer: str
    asked: str

    def sentence(self) -> str:
        """The answer with the thing that it is about, where it is a bare number."""
        things = [fact for fact in facts(self.asked) if fact.thing]
        alone = re.fullmatch(r"[\d.,'’ ]+k?", bare(self.answer))
        if alone and things:
            return finished(things[0].text.replace(things[0].amount, bare(self.answer)))
        return finished(self.answer)

    def line(self) -> str:
        return f"Decided: {bare(self.answer)} (asked: {self.asked})"


def read_intent(text: str) -> Intent:
    name = re.search(r"(?m)^#\s+(.+?)\s*$", text)
    wanted, _, told = section_text(text, "Objective").partition(BACKGROUND)
    lists = {title: items(section_text(text, title)) for title in ("Assumptions", "Constraints", "Unknowns")}
    return Intent(
        name=name[1] if name else "",
        objective=tuple(one for one in sentences(wanted) if one != NOT_SAID),
        background=items(told),
        assumptions=lists["Assumptions"],
        constraints=lists["Constraints"],
        unknowns=lists["Unknowns"],
        questions=items(section_text(text, "Open Questions")),
    )


def decisions(spec: str) -> tuple[Decided, ...]:
    """What was asked and answered before the specification was confirmed."""
    found = (_DECIDED.search(item.replace("**", "")) for item in items(section_text(spec, "Key Decisions")))
    return tuple(Decided(one["answer"], one["asked"]) for one in found if one)


def own_decisions(spec: str) -> tuple[str, ...]:
    """What a person wrote among the decisions by hand."""
    return tuple(one for one in items(section_text(spec, "Key Decisions")) if not one.startswith("Decided:"))
