"""The specification: the spec phase's answer as a checked value, what it leaves open, and its two documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, JsonValue, StringConstraints, Tag
from rapidfuzz.distance import Levenshtein

from forge.agents.answer_object import parse_object
from forge.pipeline.unknown_ids import meant
from forge.projects.errors import AnswerMalformed
from forge.projects.intent import bullets, is_pleasantry, items, one_line, says_nothing, under

SAME_UNKNOWN = 0.8
_MARKUP = re.compile(r"[\W_]+")
_STRUCTURAL = re.compile(r"\s{0,3}(?:#|=+\s*$|-+\s*$)")
_MARKS = re.compile(r"(?:\s*\((?:tests|small)\))+$", re.IGNORECASE)
"""Behind the title of a task in `spec.md`."""
_SOURCES = {"ai": "AI-reasoned", "human": "human-provided", "open": "left open"}

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4_000)]
Prose = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=40_000)]
Lines = Annotated[list[Line], Field(default_factory=list, max_length=200)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Challenge(_Part):
    """A weak decision, what is weak about it, and what became of it."""

    decision: Line
    concern: Line
    resolution: Line


class Resolution(_Part):
    """`open` is for rules alone, which decide nothing: the point goes into the outline as it is."""

    unknown: Line
    resolution: Line
    source: Literal["ai", "human", "open"]
    id: str = ""
    """That the unknown has in the material, such as `U1`."""


class Question(_Part):
    """What only a person can decide."""

    unknown: Line
    question: Line
    id: str = ""


class Decision(_Part):
    decision: Line
    rationale: str = ""


class PlanStructure(_Part):
    template: Literal["generic", "wedding", "strategy", "engineering"] = "generic"
    sections: Annotated[list[Line], Field(min_length=1, max_length=200)]


class Task(_Part):
    """A piece of building. Its identifier is always the slug of its title, so that it can be derived again."""

    id: str = ""
    title: Line
    tests: bool = False
    small: bool = False
    """Whether it may share a turn with the small tasks beside it."""


class CodeStructure(_Part):
    architecture: Prose
    language: Line
    framework: str = ""
    tools: Lines
    tasks: Annotated[list[Task], Field(min_length=1, max_length=200)]


def _kind(value: Any) -> str:
    if isinstance(value, BaseModel):
        return {PlanStructure: "plan", CodeStructure: "code"}.get(type(value), "other")
    if isinstance(value, dict) and value.keys() & {"template", "sections"}:
        return "plan"
    return "code" if isinstance(value, dict) and value.keys() & {"architecture", "language", "tasks"} else "other"


Structure = Annotated[
    Annotated[PlanStructure, Tag("plan")]
    | Annotated[CodeStructure, Tag("code")]
    | Annotated[dict[str, JsonValue], Tag("other")],
    Discriminator(_kind),
]


class Spec(_Part):
    overview: Prose
    structure: Structure
    decisions: Annotated[list[Line | Decision], Field(default_factory=list, max_length=200)]
    dependencies: Lines
    included: Lines
    excluded: Lines


class Severities(_Part):
    critical: Line
    medium: Line
    minor: Line


class Constraints(_Part):
    context: Prose
    priorities: Lines
    exclusions: Lines
    severities: Severities | None = None
    scope: Lines
    criteria: Annotated[list[Line], Field(min_length=5, max_length=10)]


class Answer(_Part):
    challenges: Annotated[list[Challenge], Field(default_factory=list, max_length=200)]
    resolutions: Annotated[list[Resolution], Field(default_factory=list, max_length=200)]
    questions: Annotated[list[Question], Field(default_factory=list, max_length=200)]
    spec: Spec
    constraints: Constraints
    lookups: Lines
    """What no component of the repository does: then components are looked up, and the specification is asked anew."""


def parse_answer(
    raw: str, deliverable_type: str | None = None, *, leaves_open: bool = False, unknowns: Sequence[str] = ()
) -> Answer:
    """The answer in `raw`, checked; `plan` and `code` must bring the structure of their type. Only with `leaves_open`
    may something stay undecided that is not asked either. `unknowns` are those of the intent, which an answer may name
    by their ids.
    """
    answer = with_own_words(parse_object(raw, Answer), unknowns)
    if not leaves_open and any(one.source == "open" for one in answer.resolutions):
        raise AnswerMalformed(
            "A resolution has the source `open`.", hint="Decide it (`ai`), or put it under `questions`."
        )
    kind = _kind(answer.spec.structure)
    if deliverable_type in {"plan", "code"} and kind != deliverable_type:
        wanted = "template and sections" if deliverable_type == "plan" else "architecture, language and tasks"
        raise AnswerMalformed(
            f"spec.structure is not that of a {deliverable_type}.", hint=f"A {deliverable_type} needs {wanted} there."
        )
    return answer


def with_own_words(answer: Answer, unknowns: Sequence[str]) -> Answer:
    """Each resolution and question with the words of the unknown that its id names; what says nothing is left out."""

    def worded(text: str, id_: str) -> str:
        return meant(id_, text, unknowns, lambda one, other: _alike(_normal(one), _normal(other)))

    resolutions = [
        r.model_copy(update={"unknown": worded(r.unknown, r.id)})
        for r in answer.resolutions
        if not says_nothing(r.unknown) or r.id
    ]
    questions = [
        q.model_copy(update={"unknown": worded(q.unknown, q.id)})
        for q in answer.questions
        if not says_nothing(q.question) and not is_pleasantry(q.question)
    ]
    return answer.model_copy(update={"resolutions": resolutions, "questions": questions})


def unresolved(unknowns: Sequence[str], answer: Answer) -> tuple[str, ...]:
    """What of the intent has no resolution yet, and what else the answer asks a person.

    Each resolution settles one unknown: of two that are nearly alike, a single resolution leaves one open.
    """
    wanted = {_normal(item): item for item in reversed(unknowns)}
    # Whoever decides something and asks a person about it all the same has not decided it.
    doubted = {_normal(q.unknown) for q in answer.questions}
    given = [_normal(r.unknown) for r in answer.resolutions if r.source != "ai" or _normal(r.unknown) not in doubted]
    settled = _settled(list(wanted), given)
    still = [item for normal, item in reversed(wanted.items()) if normal not in settled]
    known = [*wanted, *given]
    asked = (q.unknown for q in answer.questions if not any(_alike(_normal(q.unknown), k) for k in known))
    return (*still, *dict.fromkeys(asked))


def question_for(unknown: str, answer: Answer) -> str:
    """How the answer asks a person about `unknown`; the unknown itself where it does not."""
    return next((q.question for q in answer.questions if _alike(_normal(q.unknown), _normal(unknown))), unknown)


def render_spec(name: str, answer: Answer, deliverable_type: str, *, candidates: str = "") -> str:
    """`spec.md`. `candidates` is Markdown about open-source components that were looked at."""
    spec = answer.spec
    decisions = [d if isinstance(d, str) else _told(d.decision, d.rationale) for d in spec.decisions]
    decisions += [f"{_told(c.decision, c.resolution)} (questioned: {c.concern})" for c in answer.challenges]
    resolved = [f"{_told(r.unknown, r.resolution)} ({_SOURCES[r.source]})" for r in answer.resolutions]
    scope = f"Included:\n\n{bullets(spec.included)}\n\nExcluded:\n\n{bullets(spec.excluded)}"
    looked_at = f"### Open-source Components\n\n{_block(candidates)}\n\n" if candidates.strip() else ""
    structure = _structure(spec.structure, deliverable_type, looked_at)
    return _document(
        f"{name} — Specification",
        ("Deliverable Overview", _block(spec.overview)),
        ("Deliverable Structure", structure),
        ("Key Decisions", bullets(decisions)),
        ("Resolved Unknowns", bullets(resolved)),
        ("Dependencies", bullets(spec.dependencies)),
        ("Scope Boundaries", scope),
    )


def render_constraints(name: str, answer: Answer, type_title: str, severities: Mapping[str, str]) -> str:
    """`constraints.md`. `severities` are those of the deliverable type, where the answer has none of its own."""
    given = answer.constraints
    counted = given.severities.model_dump() if given.severities else severities
    return _document(
        f"{name} — Review Constraints",
        ("Context", _block(given.context)),
        ("Deliverable Type", one_line(type_title)),
        ("Priorities", bullets(given.priorities)),
        ("Exclusions", bullets(given.exclusions)),
        ("Severity Definitions", bullets([f"**{level}**: {meaning}" for level, meaning in counted.items()])),
        ("Scope", bullets(given.scope)),
        ("Acceptance Criteria", _numbered(given.criteria)),
    )


def criteria(constraints: str) -> tuple[str, ...]:
    """The acceptance criteria in `constraints.md`, however many a person has left there."""
    return items(under(constraints, "acceptance criteria"))


def tasks(spec: str) -> tuple[Task, ...]:
    """The tasks in `spec.md`, in their order."""
    return identified(_task(text) for text in items(under(spec, "tasks")))


def _task(text: str) -> Task:
    found = _MARKS.search(text)
    marks = found[0].lower() if found else ""
    return Task(title=_MARKS.sub("", text) or text, tests="(tests)" in marks, small="(small)" in marks)


def _with_marks(task: Task) -> str:
    return _MARKS.sub("", task.title) + " (small)" * task.small + " (tests)" * task.tests


def identified(tasks: Iterable[Task]) -> tuple[Task, ...]:
    """Each with the slug of its title as identifier; a title that comes again gets a number."""
    taken: dict[str, Task] = {}
    for task in tasks:
        slug = _MARKUP.sub("-", task.title.casefold()).strip("-") or "task"
        id_ = next(i for n in range(1, len(taken) + 2) if (i := slug if n == 1 else f"{slug}-{n}") not in taken)
        taken[id_] = task.model_copy(update={"id": id_})
    return tuple(taken.values())


def _structure(structure: PlanStructure | CodeStructure | dict[str, JsonValue], type_: str, looked_at: str) -> str:
    match structure:
        case PlanStructure():
            tables = "Every main section has a table of objective, plan and assessment."
            return f"Template: {structure.template}\n\n{tables}\n\n{_numbered(structure.sections)}"
        case CodeStructure():
            made_with = [f"Language: {structure.language}", f"Framework: {structure.framework or 'none'}"]
            made_with.append(f"Tools: {', '.join(structure.tools) or 'none'}")
            queue = [_with_marks(task) for task in structure.tasks]
            described = f"{_block(structure.architecture)}\n\n{bullets(made_with)}"
            return f"{described}\n\n{looked_at}### Tasks\n\n{_numbered(queue)}"
        case _:
            values = {
                key: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for key, v in structure.items()
            }
            return bullets([f"{key}: {value}" for key, value in values.items()] or [f"As every {type_}"])


def _document(title: str, *sections: tuple[str, str]) -> str:
    return "\n\n".join([f"# {one_line(title)}", *(f"## {head}\n\n{body}" for head, body in sections)]) + "\n"


def _block(text: str) -> str:
    """Text of several lines that cannot become a heading, nor leave a code fence open."""
    lines = ["\\" + line.lstrip() if _STRUCTURAL.match(line) else line for line in text.strip().splitlines()]
    fences = [mark for line in lines if (mark := line.lstrip()[:3]) in {"```", "~~~"}]
    return "\n".join([*lines, *(fences[-1:] if len(fences) % 2 else ())])


def _told(what: str, why: str) -> str:
    return f"**{one_line(what)}**: {one_line(why)}" if why.strip() else one_line(what)


def _numbered(texts: Sequence[str]) -> str:
    return "\n".join(f"{number}. {one_line(text)}" for number, text in enumerate(texts, 1))


def _settled(wanted: Sequence[str], given: Sequence[str]) -> set[str]:
    """Which of `wanted` find a partner of their own in `given`, the most alike first."""
    likeness = {(w, g): Levenshtein.normalized_similarity(w, g) for w in wanted for g in set(given)}
    left = list(given)
    settled: set[str] = set()
    for (w, g), value in sorted(likeness.items(), key=lambda pair: (-pair[1], pair[0])):
        if value >= SAME_UNKNOWN and w not in settled and g in left:
            settled.add(w)
            left.remove(g)
    return settled


def _alike(one: str, other: str) -> bool:
    return Levenshtein.normalized_similarity(one, other) >= SAME_UNKNOWN


def _normal(text: str) -> str:
    return _MARKUP.sub(" ", text.casefold()).strip() or text
