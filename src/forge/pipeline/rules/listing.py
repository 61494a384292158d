"""The lists of a plan: its steps, who does what, what is paid for, and what could go wrong."""

from __future__ import annotations

from collections.abc import Iterator

from forge.pipeline.rules.choices import Became, figure
from forge.pipeline.rules.cues import LIMIT
from forge.pipeline.rules.facts import Kind, facts
from forge.pipeline.rules.placing import named_in
from forge.pipeline.rules.sentences import bare
from forge.pipeline.rules.tasks import Stage, assigned
from forge.pipeline.rules.telling import Told, steps

ORDER = (
    "By rule: the steps are listed below in this order: what is found out, what is decided, what is got, what is prepared, "
    "and the aim itself."
)
_MOST_WATCHED = 5


def numbered(told: Told) -> list[str]:
    found = steps(told)
    if len(found) <= 1:
        return ["By rule: no step was named besides the aim itself, so the first thing to do is to name the steps."]
    listed = "\n".join(f"{number}. {step.text}" for number, step in enumerate(found, 1))
    free = [str(number) for number, step in enumerate(found, 1) if not step.who and step.stage is not Stage.AIM]
    parts = [listed]
    if free:
        steps_ = f"steps {', '.join(free[:-1])} and {free[-1]}" if len(free) > 1 else f"step {free[0]}"
        parts.append(f"Nobody is named yet for {steps_}.")
    return parts


def people(told: Told) -> list[str]:
    doing = [one for one in (*told.objective, *told.limits) if assigned(one)]
    if not doing:
        return ["By rule: nobody was named for any part of the work yet."]
    return ["Who does what:\n" + "\n".join(f"- {assigned(one)}: {_rest(one)}" for one in doing)]


def _rest(sentence: str) -> str:
    return bare(sentence[len(assigned(sentence)) :].strip()) + "."


def to_pay(told: Told) -> list[str]:
    """Without amounts: nobody named any."""
    things = [step.thing for step in steps(told) if step.thing]
    if not things:
        return []
    sums = any(fact.kind is Kind.MONEY for one in told.all for fact in facts(one))
    lead = "To be paid from it, unless somebody gives it" if sums else "To be paid for, unless somebody gives it"
    return [f"{lead} (by rule: whatever has to be got; no prices were named for it):\n" + _list(things)]


def fallbacks(told: Told) -> Iterator[str]:
    for one in told.became(Became.CHOSEN):
        yield f"By rule: the choice that was named second is the fallback: {one.second}."


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


def in_numbers(told: Told) -> Iterator[str]:
    """The frame of the plan at one glance."""
    said = (*told.objective, *told.limits, *(one.said for one in told.became(Became.COUNTED)))
    found: dict[str, None] = {}
    for role in ("people", "time", "place", "money"):
        for one in said:
            counted = figure(one) if role in {"people", "money"} else ""
            named = named_in(one, role)
            found |= dict.fromkeys([bare(counted.rpartition(": ")[2])] if counted and named else named)
    if found:
        yield f"In numbers, dates and places: {'; '.join(found)}."


def _list(texts: list[str] | tuple[str, ...]) -> str:
    return "\n".join(f"- {one}" for one in texts)
