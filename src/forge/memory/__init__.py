"""Memory that outlives sessions, in two layers: state files under `.claude/`, and MEMORY.md for people and agents."""

from forge.memory.memory import Memory
from forge.memory.read_order import Recalled
from forge.memory.storage import Drafts
from forge.memory.update import Result, Resumed
from forge.memory.values import (
    Caution,
    Confidence,
    Entry,
    Initiative,
    InterviewState,
    Kind,
    Milestone,
    MilestoneStatus,
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
    "Kind",
    "Memory",
    "Milestone",
    "MilestoneStatus",
    "Recalled",
    "Result",
    "Resumed",
    "Source",
    "Status",
    "Topic",
]
