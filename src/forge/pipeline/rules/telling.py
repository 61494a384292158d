"""Everything that a plan can draw on, read from the documents of the project; and the steps that follow from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from forge.deliverables.plan.placeholders import placeholders
from forge.deliverables.plan.review import criteria
from forge.pipeline.rules.choices import Became, Outcome, outcome
from forge.pipeline.rules.reading import Decided, decisions, own_decisions, read_intent, settled, without_gaps
from forge.pipeline.rules.sentences import bare, finished
from forge.pipeline.rules.tasks import Stage, Step, step_to, steps_in

# Nobody can check the weather of a day in summer.
_HOPE = re.compile(r"\bhope(?:fully)?\b|\b(?:rain|weather|sun|snow)\b", re.I)
_FIRST_NAMED = "by rule, the first choice named"


@dataclass(frozen=True, slots=True)
class Told:
    """`decided` is what people answered; `outcomes` is what the rules made of everything else that was open."""

    objective: tuple[str, ...]
    limits: tuple[str, ...]
    beliefs: tuple[str, ...]
    decided: tuple[Decided, ...]
    outcomes: tuple[Outcome, ...]
    criteria: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        known = (one.sentence() for one in self.decided)
        return (*self.objective, *self.limits, *self.beliefs, *known, *(one.said for one in self.outcomes))

    def became(self, *kinds: Became) -> tuple[Outcome, ...]:
        return tuple(one for one in self.outcomes if one.became in kinds)


def told_in(material: Mapping[str, Any]) -> Told:
    intent, spec = read_intent(str(material.get("intent", ""))), str(material.get("spec", ""))
    stuck = tuple(
        Decided(" ".join(str(one.get("answer", "")).split()), str(one.get("question", "")))
        for one in material.get("answers", ())
        if str(one.get("answer", "")).strip()
    )
    known = (*decisions(spec), *stuck)
    # A person may have written decisions into the specification by hand: they count like limits.
    limits = settled(intent.constraints, known) + tuple(finished(one) for one in own_decisions(spec))
    return Told(
        objective=_clean(settled(intent.objective, known)),
        limits=_clean(limits),
        beliefs=_clean(settled(intent.assumptions, known)),
        decided=tuple(one for one in known if not one.by_rule and not placeholders(one.answer, one.answer)),
        outcomes=tuple(_clean_outcome(outcome(one.asked)) for one in known if one.by_rule),
        criteria=criteria(str(material.get("constraints", ""))),
    )


def _clean(said: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(without_gaps, said))


def _clean_outcome(one: Outcome) -> Outcome:
    texts = (one.said, one.rule, one.first, one.second)
    return Outcome(one.became, *map(without_gaps, texts))


def steps(told: Told) -> tuple[Step, ...]:
    """In the order of the stages, and within a stage as they were said."""
    found = {step.text: step for step in _steps(told)}
    return tuple(sorted(found.values(), key=lambda step: step.stage))


def _steps(told: Told) -> Iterator[Step]:
    yield from (Step(Stage.FIND_OUT, f"Find out: “{one.said}”") for one in told.became(Became.FIND_OUT))
    yield from (Step(Stage.FIND_OUT, f"Check: “{one}”") for one in told.beliefs if not _HOPE.search(one))
    yield from (Step(Stage.DECIDE, f"Decide: “{one.said}”") for one in told.became(Became.DECIDE, Became.OPTION))
    for one in told.became(Became.CHOSEN):
        confirmed = Step(Stage.DECIDE, f"Confirm what the rule chose: {one.first} (“{one.said}”).")
        yield step_to(one.first, _FIRST_NAMED) or confirmed
    for answer in told.decided:
        if step := step_to(bare(answer.sentence()), "decided"):
            yield step
    for sentence in (*told.objective[1:], *told.limits):
        yield from steps_in(sentence)
    yield from (Step(Stage.AIM, f"Then the aim itself: “{one}”") for one in told.objective[:1])
