"""A project's way in its memory files: its state and what it finished, for whoever works on it next."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from forge.memory import Memory
from forge.memory.storage import Drafts
from forge.memory.values import Status
from forge.projects.status import Phase

if TYPE_CHECKING:
    from forge.pipeline.draft import Draft

TYPE = "FORGE"


def remember_move(draft: Draft, before: Phase) -> None:
    """A move from one phase to another, written through the layers as part of the same change of files."""
    after = draft.status.phase
    name = draft.status.project_name or draft.info.id
    storage, memory = _memory(draft)
    known = memory.read().initiative
    if known is None or known.status.over:
        memory.start(name, TYPE, name)
        memory.change_status(Status.IN_PROGRESS)
        known = memory.read().initiative
    blocked = known is not None and known.status is Status.BLOCKED
    if after is Phase.HALTED:
        if not blocked:
            memory.change_status(Status.BLOCKED, reason=draft.status.halt_reason or "")
    else:
        if blocked:
            memory.change_status(Status.IN_PROGRESS)
        if before is not Phase.HALTED:
            memory.advance(str(before), str(after), name)
        if after is Phase.DONE:
            memory.complete(f"{draft.status.deliverable_type or 'deliverable'} delivered")
    _confidence(memory, draft, after)
    _take(storage, draft)


def remember_delegation(draft: Draft, text: str) -> None:
    storage, memory = _memory(draft)
    memory.delegate(text)
    _take(storage, draft)


def remember_confidence(draft: Draft, topics: Mapping[str, float], source: str) -> None:
    """How sure an interview is of each topic now, beside what it was before."""
    storage, memory = _memory(draft)
    for topic, value in topics.items():
        memory.confidence(topic, round(value, 2), source)
    _take(storage, draft)


def _confidence(memory: Memory, draft: Draft, after: Phase) -> None:
    """How sure the interviews were: what a distillation left open, and what a person confirmed."""
    match after:
        case Phase.HUMAN_REVIEW:
            open_ = draft.info.unknowns
            memory.confidence("intent", round(1 / (1 + open_), 2), "distillation")
        case Phase.SPEC_BUILDING:
            memory.confidence("intent", 1.0, "person")
        case Phase.BUILDING:
            memory.confidence("specification", 1.0, "person")


def _memory(draft: Draft) -> tuple[Drafts, Memory]:
    storage = Drafts(draft.read)
    return storage, Memory(Path(), storage=storage, now=lambda: datetime.fromtimestamp(draft.now, UTC))


def _take(storage: Drafts, draft: Draft) -> None:
    for path, data in storage.written.items():
        draft.write(path, data)
