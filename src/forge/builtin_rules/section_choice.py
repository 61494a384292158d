"""Which section a sentence belongs to: the one whose words it uses most, else the one for its people, dates or sums."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from forge.builtin_rules.facts import WEEKDAY, FactKind, facts, is_part
from forge.builtin_rules.sentences import stem
from forge.deliverables.plan.outlines import Outline, Section, outline

_MONEY = frozenset({"budget", "money", "cost"})
_TIME = frozenset({"date", "deadline"})
_BUDGET = re.compile(r"^(?:the |our |my )?budget\b", re.I)
_WEEKDAYS = re.compile(rf"\b{WEEKDAY}\b", re.I)
_NOT_A_PLACE = (
    r"(?!(?:January|February|March|April|May|June|July|August|September|October|November|December|Spring|Summer|Autumn"
    r"|Winter|Christmas|Easter|Q[1-4]|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|I|We)\b)"
)
_SPOT = (
    r"(?:park|hall|gym|garden|barn|church|school|library|university|restaurant|caf[eé]|hotel|hostel|beach|river|lake|forest"
    r"|field|castle|farm|office|house|flat|room|bookshop|shop|museum|theat(?:re|er)|station|mill|village|town|city|street"
    r"|mountains?|island|club|stable|kitchen|cafeteria|stadium|court|square|hallway|centre|center|campus)"
)
_DETERMINER = r"(?:the|a|an|our|my|your|his|her|their)"
PLACE = re.compile(
    rf"\b(?:(?:in|at|by|near|into|on)\s+(?:{_DETERMINER}\s+)?|to\s+{_DETERMINER}\s+)(?:[a-z-]+\s+){{0,2}}?"
    rf"{_SPOT}\b(?!\s+(?:of\s+(?:us|them)|council))(?:\s+(?:by|near|in|at|of)\s+(?:the\s+)?[\w-]+)?"
    rf"|\b(?:in|near|to|at)\s+(?:the\s+)?{_NOT_A_PLACE}[A-Z][a-zäöüß-]{{2,}}\b(?:\s+(?:[A-Z][a-zäöüß-]+|{_SPOT})\b)?"
)
_PERSONS = """
    people person guest attendee participant child children kid pupil student teacher employee colleague member
    volunteer developer engineer singer friend adult family user speaker host visitor dba inhabitant subscriber runner
    player
"""
_PEOPLE = frozenset(stem(form) for word in _PERSONS.split() for form in (word, f"{word}s"))
_RISK = re.compile(
    r"\b(?:rain\w*|storm\w*|disaster|afraid|worr(?:y|ied)|risks?|danger\w*|fallback|emergency)\b"
    r"|\bif\b.+\b(?:bad|fails?|slow|late|sick|ill|cancels?|broken?|breaks?|too|not|wrong)\b",
    re.I,
)


def main_section(shape: Outline, sentence: str) -> Section:
    """Where the sentence fits best; the first section where it fits nowhere."""
    return next(iter(_homes(shape.name, sentence)), shape.sections[0])


@lru_cache(maxsize=4096)
def _homes(template: str, sentence: str) -> tuple[Section, ...]:
    shape = outline(template)
    candidates = [one for one in shape.sections if one.id != "acceptance"]
    scores = {one.id: _score(shape, one, sentence) for one in candidates}
    budget = shape.role("money") if _BUDGET.search(sentence) else None
    best = budget or max(candidates, key=lambda one: (scores[one.id], one is not candidates[0]))
    named = [section for role in _roles(sentence) if (section := shape.role(role))]
    # “240 euros per pupil” is about money, and not about the pupils.
    paid = best is shape.role("people") and shape.role("money") in named
    fitting = [best] if scores[best.id] > 0 and not paid else []
    return tuple({one.id: one for one in [*fitting, *named]}.values())


def _roles(sentence: str) -> list[str]:
    told = facts(sentence)
    kinds = {fact.kind for fact in told}
    found = {
        "people": any(fact.thing in _PEOPLE and not is_part(sentence, fact) for fact in told),
        "time": FactKind.DATE in kinds or bool(_WEEKDAYS.search(sentence)),
        "place": bool(PLACE.search(sentence)),
        "money": FactKind.MONEY in kinds,
        "risks": bool(_RISK.search(sentence)),
    }
    return [role for role, there in found.items() if there]


@cache
def _stems(template: str) -> dict[str, frozenset[str]]:
    return {section.id: frozenset(map(stem, section.words)) for section in outline(template).sections}


def _score(shape: Outline, section: Section, sentence: str) -> float:
    stems = _stems(shape.name)[section.id]
    told = facts(sentence)
    kinds = {fact.kind for fact in told}
    order = _in_order(sentence)
    found = [word in stems for word in order]
    score = float(len(stems & frozenset(order)))
    # Of two sections that fit alike, the one whose word comes first: sentences begin with what they are about.
    score += 0.1 * (1 - found.index(True) / len(found)) if any(found) else 0.0
    # “Six guests are vegan” is about food: what is counted weighs less than what is said of it. What is paid for more.
    weight = {FactKind.MONEY: 1.0, FactKind.COUNT: -0.5, FactKind.DATE: 0.0}
    score += sum(weight[fact.kind] for fact in told if fact.thing in stems)
    if FactKind.MONEY in kinds and stems & _MONEY:
        score += 0.75
    if FactKind.DATE in kinds and stems & _TIME:
        score += 0.5
    return score


def _in_order(sentence: str) -> list[str]:
    """With the small words too: “no” and “only” belong to a section about limits."""
    return [stem(word.strip(".,!?;:()“”\"'")) for word in sentence.lower().split()]
