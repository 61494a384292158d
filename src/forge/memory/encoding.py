"""The files of L1 as text: `initiative.json` and `interview-state.json`. Keys that others put there are kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from forge.memory.values import (
    LONG_AGO,
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
    moment,
    parsed_moment,
)

VERSION = 1
FOREIGN_TYPE = "APEX"
STEPS_KEPT = 1000
"""So many steps are remembered: far more than a crash could repeat."""


class Unreadable(ValueError):
    """The bytes are no such file; `reason` says what is wrong with them."""


def initiative_text(value: Initiative) -> str:
    known = {
        "version": VERSION,
        "id": value.id,
        "title": value.title,
        "type": value.type,
        "status": value.status.value,
        "currentPhase": value.phase,
        "completedPhase": value.completed_phase,
        "context": value.context,
        "currentMilestone": value.milestone,
        "milestones": [_milestone_json(each) for each in value.milestones],
        "reason": value.reason,
        "outcome": value.outcome,
        "created": moment(value.created),
        "lastUpdated": moment(value.updated),
        "counter": value.counter,
        "previous": list(value.previous),
        "steps": list(value.steps[-STEPS_KEPT:]),
        "owed": {
            "lines": [entry_json(each) for each in value.owed.entries],
            "workflowStatus": value.owed.workflow_status,
        },
    }
    return _written(known, _kept(value))


def _kept(value: Initiative) -> dict[str, Any]:
    """Keys of another program in its own form: its name for the title, and its progress counted on."""
    kept = dict(value.other)
    if "name" in kept:
        kept["name"] = value.title
    if "progress" in kept:
        kept["progress"] = progress_of(kept["progress"], value)
    return kept


def progress_of(progress: Any, value: Initiative) -> Any:
    """The progress of another program as it is now: tasks counted, or a status for each milestone."""
    if not isinstance(progress, dict):
        return progress
    if milestones_of(progress):
        return {**progress, **{each.id: each.status.value for each in value.milestones}}
    total, done = sum(each.total for each in value.milestones), sum(each.done for each in value.milestones)
    if not total:
        return progress
    return {
        key: total if key == "total" else done if key in ("done", "completed") else item
        for key, item in progress.items()
    }


def milestones_of(progress: Any) -> tuple[Milestone, ...]:
    """From a progress that has a status for each milestone, as in `{"M1": "completed", "M2": "in_progress"}`."""
    if not isinstance(progress, dict) or not progress:
        return ()
    said = {str(key): str(item).strip().lower().replace("-", "_") for key, item in progress.items()}
    if not set(said.values()) <= set(MilestoneStatus):
        return ()
    return tuple(Milestone(key, "", MilestoneStatus(item)) for key, item in said.items())


def parsed_initiative(data: bytes) -> Initiative:
    raw = _object(data)
    try:
        owed = raw.pop("owed", {})
        foreign = "id" not in raw and "name" in raw
        known = Initiative(
            id="" if foreign else str(raw.pop("id")),
            title=str(raw.pop("title", "") or raw.get("name", "")),
            type=str(raw.pop("type", FOREIGN_TYPE if foreign else "")),
            status=Status(str(raw.pop("status")).replace("-", "_")),
            phase=str(raw.pop("currentPhase", "")),
            completed_phase=str(raw.pop("completedPhase", "")),
            context=str(raw.pop("context", "")),
            milestone=str(raw.pop("currentMilestone", "") or ""),
            milestones=tuple(map(_parsed_milestone, raw.pop("milestones", ()))) or milestones_of(raw.get("progress")),
            reason=str(raw.pop("reason", "")),
            outcome=str(raw.pop("outcome", "")),
            created=parsed_moment(raw.pop("created", LONG_AGO)),
            updated=parsed_moment(raw.pop("lastUpdated", LONG_AGO)),
            counter=int(raw.pop("counter", 0)),
            previous=tuple(map(str, raw.pop("previous", ()))),
            steps=tuple(map(str, raw.pop("steps", ()))),
            owed=Owed(tuple(map(parsed_entry, owed.get("lines", ()))), bool(owed.get("workflowStatus"))),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as e:
        raise Unreadable(f"a value in it cannot be used ({e})") from e
    return replace(known, other=raw)


def interview_text(value: InterviewState) -> str:
    known = {
        "version": VERSION,
        "topics": {
            topic.name: {
                "confidence": topic.confidence,
                "history": [
                    {"value": each.value, "source": each.source, "at": moment(each.at)} for each in topic.history
                ],
            }
            for topic in value.topics
        },
        "lastUpdated": moment(value.updated),
        "counter": value.counter,
        "steps": list(value.steps[-STEPS_KEPT:]),
    }
    return _written(known, value.other)


def parsed_interview(data: bytes) -> InterviewState:
    raw = _object(data)
    try:
        known = InterviewState(
            topics=tuple(_parsed_topic(name, body) for name, body in raw.pop("topics", {}).items()),
            updated=parsed_moment(raw.pop("lastUpdated", LONG_AGO)),
            counter=int(raw.pop("counter", 0)),
            steps=tuple(map(str, raw.pop("steps", ()))),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as e:
        raise Unreadable(f"a value in it cannot be used ({e})") from e
    return replace(known, other=raw)


def entry_json(entry: Entry) -> dict[str, Any]:
    return {
        "kind": entry.kind.name.lower(),
        "text": entry.text,
        "at": moment(entry.at),
        "initiative": entry.initiative,
        "counter": entry.counter,
        "phase": entry.phase,
        "step": entry.step,
    }


def parsed_entry(raw: Mapping[str, Any]) -> Entry:
    return Entry(
        kind=NoteKind[str(raw["kind"]).upper()],
        text=str(raw["text"]),
        at=parsed_moment(raw["at"]),
        initiative=str(raw.get("initiative", "")),
        counter=int(raw.get("counter", 0)),
        phase=str(raw.get("phase", "")),
        step=str(raw.get("step", "")),
    )


def _milestone_json(value: Milestone) -> dict[str, Any]:
    progress = {"done": value.done, "total": value.total}
    return {"id": value.id, "title": value.title, "status": value.status.value, "progress": progress}


def _parsed_milestone(raw: Mapping[str, Any]) -> Milestone:
    progress = raw.get("progress") or {}
    return Milestone(
        id=str(raw["id"]),
        title=str(raw.get("title", "")),
        status=MilestoneStatus(raw.get("status", "pending")),
        done=int(progress.get("done", 0)),
        total=int(progress.get("total", 0)),
    )


def _parsed_topic(name: str, raw: Mapping[str, Any]) -> Topic:
    history = [
        Confidence(float(each["value"]), str(each.get("source", "")), parsed_moment(each.get("at", LONG_AGO)))
        for each in raw.get("history", ())
    ]
    return Topic(name, tuple(history))


def _object(data: bytes) -> dict[str, Any]:
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError) as e:
        raise Unreadable("it is no whole JSON document") from e
    if not isinstance(raw, dict):
        raise Unreadable("it contains no JSON object")
    raw.pop("version", None)
    return raw


def _written(known: dict[str, Any], other: Mapping[str, Any]) -> str:
    text = json.dumps({**known, **other}, ensure_ascii=False, indent=2)
    # Half a surrogate pair, which JSON can carry, is no UTF-8.
    return (text if _encodable(text) else json.dumps({**known, **other}, indent=2)) + "\n"


def _encodable(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)
