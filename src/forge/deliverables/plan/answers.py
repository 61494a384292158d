"""What agents answer while a plan is built and mended, checked before anything of it is used."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

_FENCE = re.compile(r"\A\s*```[a-zA-Z]*\s*\n(.*?)\n\s*```\s*\Z", re.DOTALL)


class Refused(ValueError):
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


class FixAnswer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    slots: dict[str, str]
    summary: str = ""


def builder_answer(text: str) -> BuilderAnswer:
    try:
        return BuilderAnswer.model_validate(_object(text))
    except ValidationError as error:
        raise Refused(_first(error)) from error


def fix_answer(text: str) -> FixAnswer:
    try:
        return FixAnswer.model_validate(_object(text))
    except ValidationError as error:
        raise Refused(_first(error)) from error


def section_slots(answer: BuilderAnswer, wanted: Collection[str]) -> dict[str, str]:
    """Exactly the wanted slots, each with a text."""
    content = answer.content if isinstance(answer.content, dict) else _object(answer.content, what="`content`")
    missing = [slot for slot in wanted if not isinstance(content.get(slot), str) or not content[slot].strip()]
    unknown = [slot for slot in content if slot not in wanted]
    if missing:
        raise Refused(f"these slots have no text: {', '.join(missing)}")
    if unknown:
        raise Refused(f"there are no such slots: {', '.join(map(str, unknown))}")
    return {slot: content[slot] for slot in wanted}


def _object(text: str, what: str = "the answer") -> dict[str, Any]:
    fenced = _FENCE.match(text)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except ValueError as error:
        raise Refused(f"{what} is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise Refused(f"{what} must be a JSON object")
    return value


def _first(error: ValidationError) -> str:
    one = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in one["loc"])
    return f"{place}: {one['msg']}" if place else one["msg"]
