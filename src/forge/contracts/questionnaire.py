"""The questionnaire: what a contract needs to know, asked where neither intent nor spec says it.

Answers of people are in `contracts/answers.yaml`. What the project's documents say already is filled in, and each such
answer names its origin.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import yaml

from forge.contracts import data
from forge.contracts.errors import AnswersMalformed, QuestionUnknown
from forge.contracts.kinds import FOLDER
from forge.contracts.languages import languages_in
from forge.projects.intent import items, one_line, under

Origin = Literal["person", "intent", "spec", "constraints", ""]
"""Who said it; empty while nobody has."""
FILE = f"{FOLDER}/answers.yaml"
LONGEST = 8_000
_LONGEST_FILE = 128_000


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    section: str
    text: str
    hint: str
    many: bool = False
    """Whether the answer is a list, one item a line."""


@dataclass(frozen=True, slots=True)
class Answer:
    question: Question
    text: str
    origin: Origin

    @property
    def items(self) -> tuple[str, ...]:
        return tuple(line.strip().lstrip("-* ").strip() for line in self.text.splitlines() if line.strip())


INTENT, USERS, FEATURES = "Product intent", "Users and stories", "Features"
TECHNICAL, DATA, CONSTRAINTS, LOOK = "Technical preferences", "Data", "Constraints and scale", "Look and feel"
SECTIONS = (INTENT, USERS, FEATURES, TECHNICAL, DATA, CONSTRAINTS, LOOK)

QUESTIONS = (
    Question("product", INTENT, "What is built?", "One or two sentences."),
    Question("problem", INTENT, "Which problem does it solve, and for whom?", "What people do today without it."),
    Question("success", INTENT, "How do you see that it works?", "Something to look at or count.", many=True),
    Question("users", USERS, "Who uses it?", "One a line, as in `Member: creates tasks`.", many=True),
    Question("stories", USERS, "What do they do with it?", "One a line: As a …, I …, so that ….", many=True),
    Question("features", FEATURES, "What must the first release do?", "One a line: name — what it does.", many=True),
    Question("out_of_scope", FEATURES, "What is left out?", "One a line.", many=True),
    Question("languages", TECHNICAL, "Which programming languages?", "As in `Python, TypeScript`."),
    Question("frameworks", TECHNICAL, "Which frameworks and libraries?", "As in `FastAPI, React`."),
    Question("hosting", TECHNICAL, "Where does it run, and which database?", "As in `one container, PostgreSQL`."),
    Question("test_command", TECHNICAL, "Which command runs the tests?", "As in `python -m pytest -q`."),
    Question("entities", DATA, "What is stored?", "One a line, as in `Task: title, state, due date`.", many=True),
    Question("sensitive", DATA, "Which data is personal or secret?", "And how long it may be kept."),
    Question("constraints", CONSTRAINTS, "What must hold, whatever is built?", "Rules, laws, dates.", many=True),
    Question("scale", CONSTRAINTS, "How many people, how much data, how fast?", "Numbers where you have them."),
    Question("pages", LOOK, "Which pages or screens?", "One a line: name — what is on it.", many=True),
    Question("style", LOOK, "How does it look and feel?", "Words, colours, examples."),
)
_BY_ID = {each.id: each for each in QUESTIONS}
_MADE_WITH = re.compile(r"^[-*] *(Language|Framework|Tools): *(.+)$", re.MULTILINE)


def question(id_: str) -> Question:
    found = _BY_ID.get(id_)
    if found is None:
        raise QuestionUnknown(f"There is no question {id_[:60]!r}.", hint=f"There are: {', '.join(_BY_ID)}.")
    return found


def parse(text: str | None) -> dict[str, str]:
    """Answers of people by the id of their question."""
    if text is None or not text.strip():
        return {}
    if len(text) > _LONGEST_FILE:
        raise AnswersMalformed(f"{FILE} is longer than {_LONGEST_FILE:,} characters.", hint="Shorten it.")
    found = data.read_file(FILE, text)
    if found.findings:
        first = found.findings[0]
        raise AnswersMalformed(f"{FILE}, line {first.line}: {first.message}", hint=first.hint)
    if found.value is None:
        return {}
    if not isinstance(found.value, dict):
        raise AnswersMalformed(f"{FILE} has no names.", hint="Write `product: …`, one name for each question.")
    answers = {name: _text(name, value, found.line((name,))) for name, value in found.value.items()}
    return {name: text for name, text in answers.items() if text}


def _text(name: str, value: object, line: int) -> str:
    question(name)
    if isinstance(value, list) and all(isinstance(each, str | int | float) for each in value):
        value = "\n".join(str(each) for each in value)
    if isinstance(value, dict | list):
        raise AnswersMalformed(f"{FILE}, line {line}: {name} is no text.", hint="Write text, or a list of texts.")
    return checked("" if value is None else str(value), name)


def checked(text: str, id_: str) -> str:
    clean = text.replace("\r\n", "\n").replace("\0", "").strip()
    if len(clean) > LONGEST:
        raise AnswersMalformed(
            f"The answer to {id_} has {len(clean):,} characters; {LONGEST:,} are allowed.", hint="Shorten it."
        )
    return clean


def format(answers: Mapping[str, str]) -> str:  # noqa: A001 - the counterpart of `parse`
    given: dict[str, str | list[str]] = {}
    for each in QUESTIONS:
        if text := answers.get(each.id, "").strip():
            given[each.id] = text.splitlines() if each.many else text
    return yaml.safe_dump(given, sort_keys=False, allow_unicode=True, width=110) if given else "{}\n"


def answered(own: Mapping[str, str], *, intent: str = "", spec: str = "", constraints: str = "") -> tuple[Answer, ...]:
    """Every question with the answer of a person, else with what the documents say, else without one."""
    known = prefilled(intent=intent, spec=spec, constraints=constraints)
    return tuple(_answer(each, own.get(each.id, ""), known) for each in QUESTIONS)


def _answer(each: Question, own: str, known: Mapping[str, tuple[str, Origin]]) -> Answer:
    if own.strip():
        return Answer(each, own.strip(), "person")
    text, origin = known.get(each.id, ("", ""))
    return Answer(each, text, origin)


def prefilled(*, intent: str, spec: str, constraints: str) -> dict[str, tuple[str, Origin]]:
    """What the project's documents answer, with the document that does."""
    found: dict[str, tuple[str, Origin]] = {}

    def fill(id_: str, text: str, origin: Origin) -> None:
        clean = text.strip()[:LONGEST]
        if clean and id_ not in found:
            found[id_] = (clean, origin)

    structure = _MADE_WITH.findall(under(spec, "deliverable structure"))
    made_with = {name.casefold(): text.strip() for name, text in structure}
    tasks = [re.sub(r"(?:\s*\(tests\))+$", "", each) for each in items(under(spec, "tasks"))]
    scope = _scope(spec)
    fill("product", _first_paragraph(under(spec, "deliverable overview")), "spec")
    fill("product", _first_paragraph(under(intent, "objective")), "intent")
    fill("problem", under(intent, "objective"), "intent")
    fill("success", _lines(items(under(constraints, "acceptance criteria"))), "constraints")
    fill("features", _lines(scope[0]), "spec")
    fill("features", _lines(tasks), "spec")
    fill("out_of_scope", _lines(scope[1]), "spec")
    fill("out_of_scope", _lines(items(under(constraints, "exclusions"))), "constraints")
    for id_, name in (("languages", "language"), ("frameworks", "framework")):
        text = made_with.get(name, "")
        fill(id_, "" if text.casefold() == "none" else text, "spec")
    fill("languages", ", ".join(sorted(languages_in(intent) - {"C", "Go"})), "intent")
    fill("constraints", _lines(items(under(intent, "constraints"))), "intent")
    fill("constraints", _lines(items(under(constraints, "priorities"))), "constraints")
    return found


def _scope(spec: str) -> tuple[Sequence[str], Sequence[str]]:
    """What the spec includes and excludes."""
    body = under(spec, "scope boundaries")
    included, _, excluded = body.partition("Excluded:")
    return items(included.replace("Included:", "")), items(excluded)


def _first_paragraph(text: str) -> str:
    return one_line(text.strip().split("\n\n")[0]) if text.strip() else ""


def _lines(texts: Sequence[str]) -> str:
    return "\n".join(texts)
