"""The documents of a project as the rules read them: who said what, and what was decided since."""

from __future__ import annotations

import re
from dataclasses import dataclass

from forge.deliverables.plan.placeholders import placeholders
from forge.deliverables.plan.review import section_text
from forge.pipeline.intent import items
from forge.pipeline.rules.choices import Became, outcome
from forge.pipeline.rules.corrections import corrected
from forge.pipeline.rules.facts import Kind, facts
from forge.pipeline.rules.sentences import bare, finished, sentences

_DECIDED = re.compile(r"^(?:Decided: |(?=By rule: ))(?P<answer>.+?) \(asked: (?P<asked>.+)\)\.?$")
_OF_RULES = ("By rule:", "Template:", "Keep to:", "Decided:")


@dataclass(frozen=True, slots=True)
class Intent:
    name: str
    objective: tuple[str, ...]
    assumptions: tuple[str, ...]
    constraints: tuple[str, ...]
    unknowns: tuple[str, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Decided:
    """A person's answer, or the rule that stood in for one."""

    answer: str
    asked: str

    @property
    def by_rule(self) -> bool:
        return self.answer.startswith("By rule")

    def sentence(self) -> str:
        """The answer with the thing that it is about, where it is a bare number."""
        things = [fact for fact in facts(self.asked) if fact.thing]
        alone = re.fullmatch(r"[\d.,'’ ]+k?", bare(self.answer))
        if alone and things:
            return finished(things[0].text.replace(things[0].amount, bare(self.answer)))
        return finished(self.answer)

    def line(self) -> str:
        return f"{'' if self.by_rule else 'Decided: '}{bare(self.answer)} (asked: {self.asked})"


def read_intent(text: str) -> Intent:
    name = re.search(r"(?m)^#\s+(.+?)\s*$", text)
    parts = {title: items(section_text(text, title)) for title in ("Assumptions", "Constraints", "Unknowns")}
    return Intent(
        name=name[1] if name else "",
        objective=tuple(sentences(section_text(text, "Objective"))),
        assumptions=tuple(one for one in parts["Assumptions"] if not one.startswith(_OF_RULES)),
        constraints=parts["Constraints"],
        unknowns=parts["Unknowns"],
        questions=items(section_text(text, "Open Questions")),
    )


def decisions(spec: str) -> tuple[Decided, ...]:
    """What was asked and answered before the specification was confirmed."""
    found = (_DECIDED.search(item.replace("**", "")) for item in items(section_text(spec, "Key Decisions")))
    return tuple(Decided(one["answer"], one["asked"]) for one in found if one)


def own_decisions(spec: str) -> tuple[str, ...]:
    """What a person wrote among the decisions by hand."""
    found = items(section_text(spec, "Key Decisions"))
    return tuple(one for one in found if not one.startswith(_OF_RULES) and "(questioned: " not in one)


def settled(said: tuple[str, ...], decided: tuple[Decided, ...]) -> tuple[str, ...]:
    """What was said, with the amounts that were decided since."""
    told = list(said)
    for one in decided:
        later = outcome(one.asked) if one.by_rule else None
        if later and later.became is not Became.LATER:
            continue
        sentence = finished(later.second) if later else one.sentence()
        # Only what was asked about: an answer to another question may name the same thing by the way.
        asked = {fact.thing for fact in facts(one.asked)}
        if any(fact.kind is not Kind.DATE and fact.thing in asked for fact in facts(sentence)):
            changed = corrected(told, sentence)
            told = changed[: len(told)] if len(changed) >= len(told) else told
    return tuple(told)


def without_gaps(text: str) -> str:
    """A plan has no gaps, and repeats none either: what a person left open is called open."""
    for gap in placeholders(text, text):
        text = text.replace(gap, "open")
    return text
