"""Projects on disk: directories that people read and edit, with a history in which nothing is lost."""

from forge.projects.chat import ChatMessage
from forge.projects.info import ProjectInfo
from forge.projects.log import OperationalLog
from forge.projects.polish import PolishState, Round
from forge.projects.project import Project
from forge.projects.records import Read, Records, Taken
from forge.projects.status import TRANSITIONS, HaltReason, Phase, ProjectStatus, moved
from forge.projects.workspace import Listing, Workspace

__all__ = [
    "TRANSITIONS",
    "ChatMessage",
    "HaltReason",
    "Listing",
    "OperationalLog",
    "Phase",
    "PolishState",
    "Project",
    "ProjectInfo",
    "ProjectStatus",
    "Read",
    "Records",
    "Round",
    "Taken",
    "Workspace",
    "moved",
]
