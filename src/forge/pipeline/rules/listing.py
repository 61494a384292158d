"""The lists of a plan: its steps, who does what, what is paid for, and what could go wrong."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from forge.deliverables.plan import Outline
from forge.pipeline.rules.choices import Became, figure
from forge.pipeline.rules.cues import LIMIT
from forge.pipeline.rules.facts import Kind, facts
from forge.pipeline.rules.placing import named_in
from forge.pipeline.rules.sentences import bare
from forge.pipeline.rules.tasks import Duty, Stage, duties
from forge.pipeline.rules.telling import Told, steps

ORDER = (
    "By rule: the steps are listed below in this order: what is found out, what is decided, what is got, what is "
    "prepared, and the aim itself."
)
_MOST_WATCHED = 5
_IN_CASE = re.compile(r"\b(?:if|when|in case|unless)\b", re.I)
_THEN = re.compile(r"\bif\b.+\b(?:we|I|they)\s+\w+", re.I)
_FREE = re.compile(
    r"\b(?:consent|permission|permit|approval|agreement|decision|help|volunteers?|time|idea|answers?)\b", re.I
)


def numbered(told: Told) -> list[str]:
    found = steps(told)
    if len(found) <= 1:
        return ["By rule: no step was named besides the aim itself, so the first thing to do is to name the steps."]
    listed = "\n".join(f"{number}. {step.text}" for number, step in enumerate(found, 1))
    free = [str(number) for number, step in enumerate(found, 1) if not step.who and step.stage is not Stage.AIM]
    parts = [listed]
    if free:
        parts.append(f"Nobody is named yet for {_steps(free)}.")
    return parts


def duties_in(told: Told) -> tuple[Duty, ...]:
    return tuple(one for sentence in (*told.objective, *told.limits) for one in duties(sentence))


def people(told: Told, *, beside_the_steps: bool) -> list[str]:
    named: dict[str, list[str]] = {}
    for number, step in enumerate(steps(told), 1):
        if step.who:
            named.setdefault(step.who, []).append(str(number))
    if not named:
        return (
            [] if beside_the_steps or duties_in(told) else ["By rule: nobody was named for any step of the work yet."]
        )
    return [f"Named for steps of the work: {'; '.join(f'{who} ({_steps(at)})' for who, at in named.items())}."]


def _steps(numbers: list[str]) -> str:
    if len(numbers) == 1:
        return f"step {numbers[0]}"
    return f"steps {', '.join(numbers[:-1])} and {numbers[-1]}"


def to_pay(told: Told) -> list[str]:
    """Without amounts: nobody named any."""
    things = [step.thing for step in steps(told) if step.thing and not _FREE.search(step.thing)]
    things = [thing for thing in things if not any(fact.kind is Kind.MONEY for fact in facts(thing))]
    if not things:
        return []
    sums = any(fact.kind is Kind.MONEY for one in told.all for fact in facts(one))
    lead = "To be paid from it" if sums else "To be paid for"
    return [f"{lead}, unless it comes for free (by rule: everything that has to be got):\n" + _list(things)]


def fallbacks(told: Told) -> Iterator[str]:
    """Only what is chosen for the case that something happens: stone is no fallback for wood."""
    for one in told.became(Became.CHOSEN):
        if _IN_CASE.search(one.said):
            yield f"By rule: the choice that was named second is the fallback: {one.second}."


def prepared_for(told: Told) -> bool:
    """Whether it was said what happens when something else does not."""
    return any(fallbacks(told)) or any(_THEN.search(one) for one in told.limits)


def uncertain(told: Told) -> list[str]:
    return [*told.beliefs, *(one.said for one in told.became(Became.FIND_OUT, Became.DECIDE))]


def risks(told: Told) -> list[str]:
    parts: list[str] = []
    if told.beliefs:
        parts.append("Believed, and a risk if it turns out otherwise:\n" + _list(told.beliefs))
    unknown = [one.said for one in told.became(Became.FIND_OUT, Became.DECIDE)]
    if unknown:
        parts.append("Not known or not decided yet, and a risk until it is:\n" + _list(unknown))
    limits = [one for one in told.limits if LIMIT.search(one)][:_MOST_WATCHED]
    if limits:
        parts.append("Limits that could be missed, and are watched for that:\n" + _list(limits))
    return parts


def in_numbers(shape: Outline, told: Told) -> Iterator[str]:
    """The frame of the plan at one glance."""
    said = (*told.objective, *told.limits, *(one.said for one in told.became(Became.COUNTED)))
    found: dict[str, None] = {}
    for role in ("people", "time", "place", "money"):
        for one in said if shape.role(role) else ():
            counted = figure(one) if role in {"people", "money"} else ""
            named = named_in(one, role)
            found |= dict.fromkeys([bare(counted.rpartition(": ")[2])] if counted and named else named)
    if found:
        yield f"In numbers, dates and places: {'; '.join(not_within_others(found))}."


def not_within_others(texts: Collection[str]) -> list[str]:
    """“March” says nothing beside “31 March 2027”."""
    return [one for one in texts if not any(one.lower() in other.lower() for other in texts if other != one)]


def _list(texts: list[str] | tuple[str, ...]) -> str:
    return "\n".join(f"- {one}" for one in texts)
