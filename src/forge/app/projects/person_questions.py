"""What a project waits for from its person: clarifications, which words answer, and decisions, made in Forge alone."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from forge.app import questions
from forge.app.access.identity import Who, audit
from forge.app.process.workshop import Workshop
from forge.app.projects import project_access
from forge.app.projects.project_view import ProjectView
from forge.pipeline.actions import Action
from forge.pipeline.answers import Given
from forge.question_kinds import QuestionKind

_REVIEW = "review-"
_MOST = 10


@dataclass(frozen=True, slots=True)
class Field:
    """One thing to fill in. Only one of `options` fits where there are `options`; `suggested` are mere proposals."""

    name: str
    text: str
    options: tuple[str, ...] = ()
    suggested: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """`id` names exactly what is asked now. Without `fields` it is a decision."""

    id: str
    text: str
    fields: tuple[Field, ...] = ()


def asked_of_person(shop: Workshop, who: Who, seen: ProjectView) -> Asked | None:
    """The one thing that the project waits for; None while it works, and where it waits for nothing."""
    for each in questions.open_questions(shop, who, project=seen.id):
        if each.kind is QuestionKind.DECISION:
            return Asked(each.id, each.text)
        strict = each.kind is QuestionKind.CHOICE
        text = f"{each.text}\n{each.context}".strip()
        options, suggested = (each.options, ()) if strict else ((), each.options)
        return Asked(each.id, text, (Field("answer", each.text, options, suggested),))
    if seen.busy or seen.queued:
        return None
    if seen.open_questions:
        shown = seen.open_questions[:_MOST]
        fields = tuple(Field(f"answer_{number}", text) for number, text in enumerate(shown, 1))
        return Asked(_mark(seen), "\n".join(f"{n}. {text}" for n, text in enumerate(shown, 1)), fields)
    if seen.waiting or Action.CONFIRM in seen.actions:
        return Asked(
            _mark(seen), seen.question or seen.waiting or f"{seen.label or seen.phase}: confirm or correct it."
        )
    return None


async def take_answers(shop: Workshop, who: Who, id_: str, asked: Asked, given: Mapping[str, str], *, via: str) -> None:
    """What the person wrote in the form of the program `via`, which the audit names."""
    words = {field.name: text.strip() for field in asked.fields if (text := given.get(field.name, "")).strip()}
    if asked.id.startswith(_REVIEW):
        numbered = tuple(Given(int(name.removeprefix("answer_")), text) for name, text in words.items())
        await project_access.say(shop, who, id_, "", given=numbered, action_id=f"{asked.id}-{_digest(str(words))}")
    else:
        await questions.answer(shop, who, asked.id, words.get("answer", ""))
    await asyncio.to_thread(audit, shop, who, "question.form", f"project:{id_}", f"answered in {via}")


def _mark(seen: ProjectView) -> str:
    return _REVIEW + _digest("\0".join((seen.id, seen.phase, seen.updated_at, *seen.open_questions)))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
