"""The run that a project names, what follows from an action on it, and where its events are published."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from forge.projects.info import NamedRun
from forge.question_kinds import QuestionKind

if TYPE_CHECKING:
    from forge.app.process.workshop import Workshop
    from forge.pipeline.draft import Draft
    from forge.projects.project import Project


@dataclass(frozen=True, slots=True)
class ActionEffect:
    """What follows from an action. `run` is the work that follows from it, if any; `after` where its events begin."""

    changed: bool
    run: str | None
    after: int
    message: str = ""


def begin(draft: Draft, kind: str) -> None:
    """Name the run that follows; whoever finds it not begun begins it."""
    number = draft.info.runs + 1
    draft.info = replace(draft.info, runs=number, run=NamedRun(f"{kind}-{draft.info.id}-{number}", kind), waiting=None)


def run_named(project: Project) -> str | None:
    run = project.info().run
    return None if run is None else run.id


def open_question(shop: Workshop, project: Project) -> str | None:
    """The decision that its run waits for. Other questions of the run are answered by themselves, not by an action."""
    run = run_named(project)
    asked = shop.engine.open_questions(run_id=run, kind=QuestionKind.DECISION) if run else ()
    return asked[0].id if asked else None


def topic_of(project: Project) -> str:
    """Where events of a project are published."""
    return project.subject.topic
