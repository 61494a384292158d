"""What each event does to an initiative, as pure functions, and what has to be written because of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from forge.errors import InvalidInput
from forge.memory.errors import MilestoneMissing, StatusRefused
from forge.memory.status import moved
from forge.memory.values import (
    Confidence,
    Entry,
    Initiative,
    InterviewState,
    Milestone,
    MilestoneStatus,
    NoteKind,
    Owed,
    Status,
    Topic,
)
from forge.memory.workflows import TERMINAL, checkpoint, completion, phase_of

_MOST_OWED = 100


@dataclass(frozen=True, slots=True)
class Changed:
    """`lines` go into MEMORY.md; `sync` says whether WORKFLOW-STATUS.yaml follows."""

    initiative: Initiative
    lines: tuple[tuple[NoteKind, str], ...] = ()
    sync: bool = False


Act = Callable[[Initiative], Changed]


def step_key(step: str | None) -> str:
    """What is kept of a step's name, whatever it is and however long."""
    return hashlib.sha256(step.encode("utf-8", "surrogatepass")).hexdigest()[:16] if step else ""


def stamped(changed: Changed, *, now: datetime, step: str) -> Initiative:
    """The changed initiative as it goes into L1: counted, dated, and with what is still to be written."""
    value = changed.initiative
    counter = value.counter + 1
    entries = tuple(Entry(kind, text, now, value.id, counter, value.phase, step) for kind, text in changed.lines)
    return replace(
        value,
        updated=now,
        counter=counter,
        steps=(*value.steps, step) if step else value.steps,
        owed=Owed((*value.owed.entries, *entries)[-_MOST_OWED:], value.owed.workflow_status or changed.sync),
    )


def advanced(done: str, phase: str, context: str | None) -> Act:
    """One phase is done and the next begins; a terminal one completes the initiative, `x-archive` archives it too."""
    if phase in TERMINAL:
        return _ended(done, phase, context)

    def act(value: Initiative) -> Changed:
        value = _working(value)
        finished, begun = phase_of(value.type, done), phase_of(value.type, phase)
        if finished == begun:
            raise InvalidInput(f"The phase {begun} cannot follow itself.", hint="Name the phase that begins.")
        value = replace(
            value, phase=begun, completed_phase=finished, context=value.context if context is None else context
        )
        line = checkpoint(value.type, finished, begun, value.context or value.title)
        return Changed(value, ((NoteKind.CHECKPOINT, line),), sync=True)

    return act


def _ended(done: str, phase: str, context: str | None) -> Act:
    archive = TERMINAL[phase] == "archived"

    def act(value: Initiative) -> Changed:
        if archive and value.status is Status.COMPLETED:  # its completion was written when it was committed
            return Changed(replace(value, status=Status.ARCHIVED), sync=True)
        value = _working(value)
        finished = phase_of(value.type, done)
        about = value.context if context is None else context
        value = replace(value, completed_phase=finished, context=about)
        ended = completed(f"{finished} completed, {TERMINAL[phase]}")(value)
        status = Status.ARCHIVED if archive else ended.initiative.status
        return replace(ended, initiative=replace(ended.initiative, status=status))

    return act


def milestone_started(id_: str, title: str, total: int) -> Act:
    def act(value: Initiative) -> Changed:
        value = _working(value)
        old = next((each for each in value.milestones if each.id == id_), Milestone(id_))
        new = replace(
            old, title=title or old.title, status=MilestoneStatus.IN_PROGRESS, total=max(total or old.total, old.done)
        )
        return Changed(replace(_with_milestone(value, new), milestone=id_), sync=True)

    return act


def task_completed(id_: str) -> Act:
    def act(value: Initiative) -> Changed:
        value = _working(value)
        old = _milestone(value, id_)
        done = old.done + 1
        return Changed(_with_milestone(value, replace(old, done=done, total=max(done, old.total))))

    return act


def milestone_completed(id_: str) -> Act:
    """The next milestone that is not done becomes the current one."""

    def act(value: Initiative) -> Changed:
        value = _working(value)
        done = replace(_milestone(value, id_), status=MilestoneStatus.COMPLETED)
        value = _with_milestone(value, done)
        following = (each.id for each in value.milestones if each.status is not MilestoneStatus.COMPLETED)
        return Changed(replace(value, milestone=next(following, "")), sync=True)

    return act


def status_changed(status: Status, reason: str) -> Act:
    def act(value: Initiative) -> Changed:
        return Changed(replace(value, status=moved(value.status, status), reason=reason), sync=True)

    return act


def completed(outcome: str) -> Act:
    def act(value: Initiative) -> Changed:
        value = replace(value, status=moved(value.status, Status.COMPLETED), outcome=outcome, reason="")
        line = completion(value.type, value.context or value.title, outcome)
        return Changed(value, ((NoteKind.COMPLETION, line),), sync=True)

    return act


def line_added(kind: NoteKind, text: str) -> Act:
    return lambda value: Changed(value, ((kind, text),))


def confidence_added(state: InterviewState, topic: str, added: Confidence, *, step: str) -> InterviewState:
    old = next((each for each in state.topics if each.name == topic), Topic(topic))
    new = Topic(topic, (*old.history, added))
    topics = tuple(new if each is old else each for each in state.topics)
    return replace(
        state,
        topics=topics if new in topics else (*topics, new),
        updated=added.at,
        counter=state.counter + 1,
        steps=(*state.steps, step) if step else state.steps,
    )


def _working(value: Initiative) -> Initiative:
    """The first work begins a created initiative; a blocked or finished one takes none."""
    if value.status is Status.IN_PROGRESS:
        return value
    if value.status is Status.BLOCKED:
        because = f" ({value.reason})" if value.reason else ""
        raise StatusRefused(f"The initiative is blocked{because}.", hint="Set its status to in_progress first.")
    return replace(value, status=moved(value.status, Status.IN_PROGRESS))


def _milestone(value: Initiative, id_: str) -> Milestone:
    for each in value.milestones:
        if each.id == id_:
            return each
    raise MilestoneMissing(f"There is no milestone {id_!r}.", hint="Start it first.")


def _with_milestone(value: Initiative, new: Milestone) -> Initiative:
    kept = tuple(new if each.id == new.id else each for each in value.milestones)
    return replace(value, milestones=kept if new in kept else (*kept, new))
