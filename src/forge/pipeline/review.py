"""A review as an agent answers it: its issues as checked values."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from forge.agents.answer_object import ONE_OBJECT, parse_object, problems, refuse
from forge.plugins.roles import Issue, Severity
from forge.projects.errors import AnswerMalformed

MAX_ISSUES, MAX_TEXT = 500, 4_000

Text = Annotated[str, Field(max_length=MAX_TEXT)]


class _Finding(BaseModel):
    severity: Severity
    description: Text
    location: Text = ""
    recommendation: Text = ""


class _Findings(BaseModel):
    """What every type's review has, whatever else is in its own schema. Counts beside the issues decide nothing."""

    issues: Annotated[list[_Finding], Field(max_length=MAX_ISSUES)]


def parse_review(raw: str, schema: type[BaseModel], notes: list[str] | None = None) -> tuple[Issue, ...]:
    """The issues of an answer, all of them and in their order; a repeated one counts again."""
    review = parse_object(raw, schema, notes)
    try:
        found = _Findings.model_validate(review.model_dump())
    except ValidationError as e:
        raise AnswerMalformed(f"The review does not fit. {problems(e)}", hint=ONE_OBJECT) from e
    claimed = sum(getattr(review, str(severity), None) or 0 for severity in Severity)
    if claimed and not found.issues:
        refuse(f"The counts name {claimed} issues, and the list of issues is empty.")
    return tuple(Issue(f.severity, f.description, f.location, f.recommendation) for f in found.issues)
