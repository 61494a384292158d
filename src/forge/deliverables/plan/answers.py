"""What agents answer while a plan is built and mended, checked before anything of it is used."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from forge.agents.answer_object import objects, parse_object
from forge.projects.errors import AnswerMalformed

M = TypeVar("M", bound=BaseModel)


class AnswerRejected(ValueError):
    """An answer that cannot be used; the text tells the agent why."""


class Decided(BaseModel):
    """What the builder decided because the person left it to it."""

    model_config = ConfigDict(extra="ignore")

    question: str = ""
    decision: str = Field(min_length=1, max_length=4_000)
    reason: str = Field(min_length=1, max_length=4_000)


class BuilderAnswer(BaseModel):
    """`stuck` asks a person; otherwise `content` is a JSON text of slot → text."""

    model_config = ConfigDict(extra="ignore")

    stuck: bool
    reason: str = ""
    content: str | dict[str, Any] = ""
    decided: list[Decided] = Field(default_factory=list, max_length=50)

    @model_validator(mode="after")
    def _says_why(self) -> BuilderAnswer:
        if self.stuck and not self.reason.strip():
            raise ValueError("`reason` must say which decision is needed when `stuck` is true")
        if not self.stuck and not self.content:
            raise ValueError("`content` must hold the texts of the slots when `stuck` is false")
        return self


class BuilderForm(BaseModel):
    """The same as a provider is told it, where `content` has one kind."""

    stuck: bool
    reason: str
    content: str
    decided: list[Decided]


class FixAnswer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    slots: dict[str, str]
    summary: str = ""


def builder_answer(text: str) -> BuilderAnswer:
    return _fitting(text, BuilderAnswer)


def fix_answer(text: str) -> FixAnswer:
    return _fitting(text, FixAnswer)


def section_slots(answer: BuilderAnswer, wanted: Collection[str]) -> dict[str, str]:
    """Exactly the wanted slots, each with a text."""
    content = answer.content if isinstance(answer.content, dict) else _slots(answer.content)
    missing = [slot for slot in wanted if not isinstance(content.get(slot), str) or not content[slot].strip()]
    unknown = [slot for slot in content if slot not in wanted]
    if missing:
        raise AnswerRejected(f"these slots have no text: {', '.join(missing)}")
    if unknown:
        raise AnswerRejected(f"there are no such slots: {', '.join(map(str, unknown))}")
    return {slot: content[slot] for slot in wanted}


def _fitting(text: str, schema: type[M]) -> M:
    try:
        return parse_object(text, schema)
    except AnswerMalformed as error:
        raise AnswerRejected(error.message) from error


def _slots(content: str) -> dict[str, Any]:
    try:
        found = [*objects(content)]
    except AnswerMalformed as error:
        raise AnswerRejected(f"`content`: {error.message}") from error
    return found[-1] if found else {}
