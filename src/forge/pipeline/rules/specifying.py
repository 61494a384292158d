"""Intent → specification by rules: each unknown is asked about, or settled by a rule that is named."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from forge.deliverables.plan import Outline, chosen, outline
from forge.deliverables.plan.review import SEVERITIES
from forge.pipeline.rules.choices import Became, choices, outcome, said_in
from forge.pipeline.rules.cues import NEEDS_A_PERSON
from forge.pipeline.rules.facts import Kind, facts
from forge.pipeline.rules.intake import NOTHING, question_on
from forge.pipeline.rules.reading import Decided, Intent, read_intent, settled

Json = dict[str, Any]
_YOU_DECIDE = re.compile(
    r"\b(?:you|ai|forge|rules?) (?:can |should |may )?(?:decide|choose|pick)\b|\blet (?:ai|it|forge"
    r"|the ai) (?:decide|choose)\b"
    r"|\bup to you\b|\bdon[’']?t (?:care|know|mind)\b|\bno idea\b|\bnot sure\b|\bwhatever\b|\bT\.?B\.?[DCA]\b"
    r"|\bdoesn[’']?t matter\b"
    r"|^\W*(?:any|either|ai)\W*$|^\W*$",
    re.I,
)
_EXCLUDED = re.compile(
    r"(?:^|[,;]\s)(?:not|never)\s(?!more|later|less|longer|sure)|\bno\s(?!more|later|less|longer|idea|one|problem|sooner)"
    r"|\bwithout\b|\b(?:do not|don[’']?t) (?:want|need)\b|\bnot (?:allowed|wanted|part)\b",
    re.I,
)
_DEPENDS = re.compile(r"\b(?:depends? on|requires?|once|as soon as|waits? for|waiting for)\b", re.I)
_LIMITS, _ANSWERS, _CLIP = 4, 2, 220


def specified(material: Mapping[str, Any]) -> str:
    intent = read_intent(str(material.get("intent", "")))
    given = [dict(one) for one in material.get("answers", ())]
    decided, questions = _decided(intent, given)
    shape = outline(chosen(str(material.get("previous_spec", "")), str(material.get("intent", ""))))
    limits = settled(intent.constraints, decided)
    wanted = settled(intent.objective, decided) or (NOTHING,)
    answer = {
        "challenges": _challenges(intent),
        "resolutions": [
            {"unknown": one.asked, "resolution": one.answer, "source": "ai" if one.by_rule else "human"}
            for one in decided
        ],
        "questions": questions,
        "spec": _spec(wanted, limits, decided, shape),
        "constraints": _constraints(wanted, limits, decided, shape, material.get("severities") or SEVERITIES),
    }
    return json.dumps(answer, ensure_ascii=False, indent=2)


def _decided(intent: Intent, given: Sequence[Mapping[str, Any]]) -> tuple[tuple[Decided, ...], list[Json]]:
    decided: list[Decided] = []
    questions: list[Json] = []
    for item in dict.fromkeys((*intent.unknowns, *intent.questions)):
        question = item if item in intent.questions else question_on(item)
        answer = _answer(item, question, given)
        if answer is None and item in intent.unknowns and not NEEDS_A_PERSON.search(item):
            decided.append(Decided(outcome(item).rule, item))
        elif answer is None:
            questions.append({"unknown": item, "question": question})
        elif _YOU_DECIDE.search(answer):
            decided.append(Decided(outcome(item).rule, item))
        else:
            decided.append(Decided(_meant(answer, item), item))
    return tuple(decided), questions


def _meant(answer: str, item: str) -> str:
    """“The first one” is an answer; the plan should say what it is."""
    found = choices(said_in(item))
    nth = re.fullmatch(r"(?:the )?(first|former|1st|second|latter|2nd)(?: one| option)?\W*", answer, re.I)
    if not nth or not found:
        return answer
    return found[0] if nth[1].lower() in {"first", "former", "1st"} else found[1]


def _answer(item: str, question: str, given: Sequence[Mapping[str, Any]]) -> str | None:
    """The last answer to this question, however the question was passed on."""
    keys = {_key(item), _key(question)}
    fitting = [
        one for one in given if any(_meets(_key(str(one.get(name, ""))), keys) for name in ("question", "unknown"))
    ]
    return " ".join(str(fitting[-1].get("answer", "")).split()) if fitting else None


def _meets(key: str, keys: set[str]) -> bool:
    return bool(key) and any(key == other or key in other or other in key for other in keys)


def _key(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


def _challenges(intent: Intent) -> list[Json]:
    found = [
        {
            "decision": assumption,
            "concern": "By rule: this is believed, and nobody has verified it.",
            "resolution": "It stays in the plan, marked as something to verify.",
        }
        for assumption in intent.assumptions[:6]
    ]
    said = [*intent.objective, *intent.constraints, *intent.questions]
    kinds = {fact.kind for one in said for fact in facts(one)}
    for kind, what in ((Kind.MONEY, "sum of money"), (Kind.DATE, "date")):
        if kind not in kinds:
            found.append(
                {
                    "decision": f"The plan has no {what}.",
                    "concern": f"By rule: a plan without a {what} cannot be checked against one.",
                    "resolution": f"The plan says that no {what} was named; a correction can still name one.",
                }
            )
    return found


def _spec(wanted: Sequence[str], limits: Sequence[str], decided: Sequence[Decided], shape: Outline) -> Json:
    fits = (
        "its words are in the intent" if shape.name != "generic" else "no other template fits the words of the intent"
    )
    excluded = [one for one in limits if _EXCLUDED.search(one)]
    options = [
        f"Until somebody decides on it: {said_in(one.asked)}"
        for one in decided
        if one.by_rule and outcome(one.asked).became is Became.OPTION
    ]
    depends = [one for one in (*wanted, *limits) if _DEPENDS.search(one)]
    return {
        "overview": " ".join(wanted),
        "structure": {"template": shape.name, "sections": [section.title for section in shape.sections]},
        "decisions": [
            f"Template: {shape.name}. By rule, because {fits}.",
            *(one.line() for one in decided),
            *(f"Keep to: {one}" for one in limits),
        ],
        "dependencies": depends or ["By rule: none, because none was named."],
        "included": [*wanted, f"By rule: the sections of the template {shape.name}."],
        "excluded": [*excluded, *options] or ["By rule: everything that no section names."],
    }


def _constraints(
    wanted: Sequence[str],
    limits: Sequence[str],
    decided: Sequence[Decided],
    shape: Outline,
    severities: Mapping[str, str],
) -> Json:
    return {
        "context": " ".join(wanted),
        "priorities": list(limits) or ["By rule: the objective alone, because no limits were named."],
        "exclusions": [one for one in limits if _EXCLUDED.search(one)]
        or ["By rule: wording and taste are not flagged."],
        "severities": {name: str(severities[name]) for name in ("critical", "medium", "minor")},
        "scope": [section.title for section in shape.sections],
        "criteria": _criteria(wanted, limits, decided, shape),
    }


def _criteria(wanted: Sequence[str], limits: Sequence[str], decided: Sequence[Decided], shape: Outline) -> list[str]:
    """Between five and ten, each one answerable with yes or no."""
    ranked = sorted(limits, key=lambda one: not facts(one))[:_LIMITS]
    answers = [one.sentence() for one in decided if not one.by_rule][:_ANSWERS]
    first = wanted[0] if wanted else shape.title
    found = [
        f"The plan states its objective: “{_clipped(first)}”",
        *(f"The plan keeps to this: “{_clipped(one)}”" for one in ranked),
        *(f"The plan follows this decision: “{_clipped(one)}”" for one in answers),
        "Every section has an objective, a plan and an assessment.",
        "No two amounts of the same thing contradict each other.",
        "No slot is empty, and none holds a gap.",
    ]
    spare = (f"There is a section “{section.title}”." for section in shape.sections[1:])
    return [*found, *(next(spare) for _ in range(5 - len(found)))]


def _clipped(text: str) -> str:
    return text if len(text) <= _CLIP else text[:_CLIP].rsplit(" ", 1)[0] + " …"
