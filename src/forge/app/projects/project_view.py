"""A project as every face shows it: a value, and how the API's JSON becomes it again."""

from __future__ import annotations

from dataclasses import dataclass

from forge.json_value import Json
from forge.pipeline.offers import Offer


@dataclass(frozen=True, slots=True)
class ProjectView:
    """A project as every face shows it."""

    id: str
    name: str
    directory: str
    phase: str
    halt_reason: str | None
    deliverable_type: str | None
    agent: str
    busy: bool
    waiting: str | None
    question: str
    open_questions: tuple[str, ...]
    actions: tuple[str, ...]
    rounds: tuple[Json, ...]
    tests: Json | None
    repository: str | None
    branch: str | None
    deliverable: str | None
    created_at: str
    updated_at: str
    phase_times: Json
    archived: bool
    queued: bool = False
    """Its build waits for a place: others are working, or halted and not yet decided about."""
    queue_place: int | None = None
    """Which of the builds that wait it is, from 1 on; None where it does not wait."""
    problem: str = ""
    """Why its last run failed, where it did."""
    trouble: str = ""
    """While it works: the model and when it is asked again, as in `x:y: overloaded, retrying in 8 s (3 of 6)`."""
    label: str = ""
    """Its state, in the words that a person is shown."""
    outline: Json | None = None
    """Where no model wrote what was delivered: how many points are `open`, which, whether it was `accepted`, the `note`
    on how it was made, and how to `connect` a model.
    """
    scene_question: str = ""
    """Asked of the first message where no model can tell: whether it is background or the problem."""
    offers: tuple[Offer, ...] = ()
    """What can be done now, each explained."""
    stuck: Json | None = None
    """Of work that waits for a decision: `cause`, `question`, `options`, `tests` and the agent's `explanation`."""


def view_from_json(data: Json) -> ProjectView:
    """As the API gives it."""
    lists = {name: tuple(data[name]) for name in ("open_questions", "actions", "rounds")}
    return ProjectView(**{**data, **lists, "offers": tuple(Offer(**each) for each in data["offers"])})
