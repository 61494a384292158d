"""Intent → specification by rules: a person's answers are decisions, and everything else that is open stays open."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from forge.builtin_rules.choices import choices, said_in
from forge.builtin_rules.cues import NEEDS_A_PERSON
from forge.builtin_rules.documents import Decided, Intent, read_intent
from forge.builtin_rules.facts import facts
from forge.builtin_rules.intake import NOT_SAID, question_on
from forge.deliverables.plan.outlines import Outline, chosen, outline
from forge.deliverables.plan.review import SEVERITIES
from forge.json_value import Json

LEFT_OPEN = "Nobody has decided this yet."
# “No idea” is no decision, whatever it was an answer to.
_NO_ANSWER = re.compile(
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
    decided, left, questions = _resolved(intent, [dict(one) for one in material.get("answers", ())])
    shape = outline(chosen(str(material.get("previous_spec", "")), str(material.get("intent", ""))))
    answer = {
        "challenges": [],
        "resolutions": [
            *({"unknown": one.asked, "resolution": one.answer, "source": "human"} for one in decided),
            *({"unknown": item, "resolution": LEFT_OPEN, "source": "open"} for item in left),
        ],
        "questions": questions,
        "spec": _spec(intent, decided, shape),
        "constraints": _constraints(intent, decided, shape, material.get("severities") or SEVERITIES),
    }
    return json.dumps(answer, ensure_ascii=False, indent=2)


def _resolved(intent: Intent, given: Sequence[Mapping[str, Any]]) -> tuple[list[Decided], list[str], list[Json]]:
    """What a person decided, what stays open because they left it so or nobody has to decide it, and what is asked."""
    decided: list[Decided] = []
    left: list[str] = []
    questions: list[Json] = []
    for item in dict.fromkeys((*intent.unknowns, *intent.questions)):
        question = item if item in intent.questions else question_on(item)
        answer = _answer(item, question, given)
        if answer is None and (item in intent.questions or NEEDS_A_PERSON.search(item)):
            questions.append({"unknown": item, "question": question})
        elif answer is None or answer.get("delegated") or _NO_ANSWER.search(_words_of(answer)):
            left.append(item)
        else:
            decided.append(Decided(_meant(_words_of(answer), item), item))
    return decided, left, questions


def _words_of(answer: Mapping[str, Any]) -> str:
    return " ".join(str(answer.get("answer", "")).split())


def _meant(answer: str, item: str) -> str:
    """“The first one” is an answer; the specification should say what it is."""
    found = choices(said_in(item))
    nth = re.fullmatch(r"(?:the )?(first|former|1st|second|latter|2nd)(?: one| option)?\W*", answer, re.I)
    if not nth or not found:
        return answer
    return found[0] if nth[1].lower() in {"first", "former", "1st"} else found[1]


def _answer(item: str, question: str, given: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The last answer to this question, however the question was passed on."""
    keys = {_key(item), _key(question)}
    fitting = [
        one for one in given if any(_meets(_key(str(one.get(name, ""))), keys) for name in ("question", "unknown"))
    ]
    return fitting[-1] if fitting else None


def _meets(key: str, keys: set[str]) -> bool:
    return bool(key) and any(key == other or key in other or other in key for other in keys)


def _key(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


def _spec(intent: Intent, decided: Sequence[Decided], shape: Outline) -> Json:
    return {
        "overview": _overview(intent),
        "structure": {"template": shape.name, "sections": [section.title for section in shape.sections]},
        "decisions": [one.line() for one in decided],
        "dependencies": [one for one in intent.said if _DEPENDS.search(one)],
        "included": list(intent.objective),
        "excluded": [one for one in intent.constraints if _EXCLUDED.search(one)],
    }


def _overview(intent: Intent) -> str:
    return " ".join(intent.objective) or NOT_SAID


def _constraints(intent: Intent, decided: Sequence[Decided], shape: Outline, severities: Mapping[str, str]) -> Json:
    return {
        "context": _overview(intent),
        "priorities": list(intent.constraints),
        "exclusions": [one for one in intent.constraints if _EXCLUDED.search(one)],
        "severities": {name: str(severities[name]) for name in ("critical", "medium", "minor")},
        "scope": [section.title for section in shape.sections],
        "criteria": _criteria(intent, decided, shape),
    }


def _criteria(intent: Intent, decided: Sequence[Decided], shape: Outline) -> list[str]:
    """Between five and ten, each one answerable with yes or no."""
    ranked = sorted(intent.constraints, key=lambda one: not facts(one))[:_LIMITS]
    found = [
        *(f"The plan states its objective: “{_clipped(one)}”" for one in intent.objective[:1]),
        *(f"The plan keeps to this: “{_clipped(one)}”" for one in ranked),
        *(f"The plan follows this decision: “{_clipped(one.sentence())}”" for one in decided[:_ANSWERS]),
        "Every section has an objective, a plan and an assessment.",
        "No two amounts of the same thing contradict each other.",
        "No slot is empty, and none holds a gap.",
    ]
    spare = (f"There is a section “{section.title}”." for section in shape.sections[1:])
    return [*found, *(next(spare) for _ in range(5 - len(found)))]


def _clipped(text: str) -> str:
    return text if len(text) <= _CLIP else text[:_CLIP].rsplit(" ", 1)[0] + " …"
