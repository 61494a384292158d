"""What a review of a plan looks like, and what its severities mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict, NonNegativeInt

from forge.plugins.roles import Severity

SEVERITIES: Mapping[str, str] = MappingProxyType(
    {
        "critical": "The plan cannot be used: it misses its objective, contradicts a constraint, or has a gap.",
        "medium": "The plan can be used, but an acceptance criterion or a priority is not covered.",
        "minor": "The plan is right, but could be said more clearly or be more complete.",
    }
)

_HEADING = re.compile(r"(?m)^#{1,6}[ \t]+(.+?)[ \t]*$")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")


class PlanIssue(BaseModel):
    model_config = ConfigDict(extra="ignore")

    severity: Severity
    description: str
    location: str = ""
    recommendation: str = ""


class PlanReview(BaseModel):
    """Counts are for people who read logs; whoever decides counts the issues."""

    model_config = ConfigDict(extra="ignore")

    critical: NonNegativeInt = 0
    medium: NonNegativeInt = 0
    minor: NonNegativeInt = 0
    issues: list[PlanIssue]


def review_of(issues: list[PlanIssue]) -> PlanReview:
    counts = {str(severity): sum(issue.severity is severity for issue in issues) for severity in Severity}
    return PlanReview(issues=issues, **counts)


def section_text(document: str, title: str) -> str:
    """What is under a heading of a document, up to the next heading; empty without it."""
    parts = _HEADING.split(document)
    named = dict(zip(parts[1::2], parts[2::2], strict=True))
    return next((text.strip() for heading, text in named.items() if heading.casefold() == title.casefold()), "")


def items(text: str) -> tuple[str, ...]:
    """The points of a list, one text each; lines that continue a point belong to it."""
    found: list[str] = []
    for line in text.splitlines():
        bullet = _BULLET.match(line)
        if bullet:
            found.append(bullet[1].strip())
        elif line.strip() and found and line[:1].isspace():
            found[-1] += " " + line.strip()
        elif line.strip():
            found.append(line.strip())
    return tuple(item for item in found if item)


def criteria(constraints: str) -> tuple[str, ...]:
    return items(section_text(constraints, "Acceptance Criteria"))
