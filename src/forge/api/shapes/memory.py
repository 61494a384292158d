"""Memory of a project as JSON: the initiative, its lines, and what a person may add."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from forge.api.shapes.base import Given, Shape, Text, taken

Line = Annotated[str, Field(min_length=1, max_length=10_000)]
Short = Annotated[str, Field(max_length=2_000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class MilestoneShape(Shape):
    id: Text
    title: Text
    status: str
    done: int
    total: int


class InitiativeShape(Shape):
    id: Text
    title: Text
    type: Text
    status: str
    phase: Text
    context: Text
    milestones: list[MilestoneShape]
    milestone: Text
    reason: Text
    outcome: Text
    created: datetime
    updated: datetime


class MemoryEntryShape(Shape):
    kind: str
    text: Text
    at: datetime


class CautionShape(Shape):
    code: str
    message: Text
    hint: Text
    prominent: bool


class MemoryShape(Shape):
    source: str | None
    initiative: InitiativeShape | None
    entries: list[MemoryEntryShape]
    warnings: list[CautionShape]


class RememberedShape(Shape):
    """`saved` is false where the files cannot be written: the warnings say why."""

    initiative: InitiativeShape | None
    changed: bool
    saved: bool
    warnings: list[CautionShape]


class ResumedShape(Shape):
    """`brought_up` are the files that were not up to date."""

    source: str | None
    initiative: InitiativeShape | None
    brought_up: list[Text]
    warnings: list[CautionShape]


class NewLine(Given):
    model_config = taken(kind="learning", text="Prices are kept in cents.")

    kind: Literal["learning", "delegation"] = "learning"
    text: Line


class NewInitiative(Given):
    model_config = taken(title="Checkout", type="APEX", context="the cart")

    title: Line
    type: Name = "APEX"
    context: Short = ""


class NewCheckpoint(Given):
    model_config = taken(done="analyze", next="plan")

    done: Name
    next: Name
    context: Short | None = None


class NewStatus(Given):
    model_config = taken(status="blocked", reason="waits for the bank")

    status: Name
    reason: Short = ""


class NewMilestone(Given):
    model_config = taken(title="Pay", tasks=4)

    title: Short = ""
    tasks: Annotated[int, Field(ge=0, le=100_000)] = 0


class NewConfidence(Given):
    model_config = taken(topic="Scope", value=0.8, source="person")

    topic: Name
    value: Annotated[float, Field(ge=0, le=1)]
    source: Name = "person"
