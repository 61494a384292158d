"""The form to which a provider binds the answer of the spec phase: narrower than what is read, with one structure."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from forge.pipeline.specification import Answer, CodeStructure, PlanStructure, Resolution, Spec


class DecidedResolution(Resolution):
    source: Literal["ai", "human"]


class PlanSpec(Spec):
    structure: PlanStructure


class CodeSpec(Spec):
    structure: CodeStructure


class PlanAnswer(Answer):
    resolutions: list[DecidedResolution]  # type: ignore[assignment]
    spec: PlanSpec


class CodeAnswer(Answer):
    resolutions: list[DecidedResolution]  # type: ignore[assignment]
    spec: CodeSpec


_FORMS: dict[str, type[BaseModel]] = {"plan": PlanAnswer, "code": CodeAnswer}


def answer_form(deliverable_type: str) -> type[BaseModel] | None:
    """None for other types, whose structure has no form: their answers are only read and checked."""
    return _FORMS.get(deliverable_type)
