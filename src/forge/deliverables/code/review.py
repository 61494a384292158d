"""What a review of code must look like, and what its severities mean."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

Count = Annotated[int, Field(ge=0)]

SEVERITIES = {
    "critical": "It does not do what an acceptance criterion demands, loses or corrupts data, or lets somebody in.",
    "medium": "It works in the ordinary case and fails in one that people will meet; a criterion has no test.",
    "minor": "It works; a reader or a user would be slowed down or misled.",
}


class ReviewedIssue(BaseModel):
    severity: Literal["critical", "medium", "minor"]
    description: str
    location: str = ""
    recommendation: str = ""


class ReviewedTests(BaseModel):
    total: Count
    passed: Count
    failed: Count


class CodeReview(BaseModel):
    """Counts and tests are for readers; what decides is the list of issues and the recorded test runs."""

    critical: Count = 0
    medium: Count = 0
    minor: Count = 0
    tests: ReviewedTests | None = None
    issues: list[ReviewedIssue]
