"""Memory that outlives sessions, in two layers: state files under `.claude/`, and MEMORY.md for people and agents."""

from forge.memory.memory import Memory
from forge.memory.read_order import Recalled
from forge.memory.storage import Drafts
from forge.memory.update import Resumed, UpdateResult
from forge.memory.values import (
    Caution,
    Confidence,
    Entry,
    Initiative,
    InterviewState,
    Milestone,
    MilestoneStatus,
    NoteKind,
    Source,
    Status,
    Topic,
)
from forge.memory.workflows import WORKFLOWS

__all__ = [
    "WORKFLOWS",
    "Caution",
    "Confidence",
    "Drafts",
    "Entry",
    "Initiative",
    "InterviewState",
    "Memory",
    "Milestone",
    "MilestoneStatus",
    "NoteKind",
    "Recalled",
    "Resumed",
    "Source",
    "Status",
    "Topic",
    "UpdateResult",
]
