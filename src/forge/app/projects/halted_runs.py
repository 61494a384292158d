"""A run that failed or was stopped where its project could not be written: the files still name a working phase.

The run's row in the database tells the truth then. Views show the project halted with the reason, and the next action
that can be written puts the halt into the files first.
"""

from __future__ import annotations

from dataclasses import replace

from forge.app.projects.run_kinds import KINDS
from forge.errors import Conflict
from forge.pipeline.draft import Draft
from forge.plugins.errors import AgentFailed
from forge.projects.errors import ProjectUnreadable, ProjectUnwritable
from forge.projects.info import Failure, ProjectInfo, Waiting
from forge.projects.status import HaltReason, Phase, ProjectStatus
from forge.store.runs import RunRow

STOPPED_WORDS = "You stopped it. Retry, with another model if you like."
_DISK = frozenset({ProjectUnwritable.code, ProjectUnreadable.code, "storage_failed"})


class WorkStopped(Conflict):
    """A person stopped the work of a project. It is no failure: it can be taken up again."""

    code = "work_stopped"


def failure(why: HaltReason, text: str) -> ProjectUnwritable | AgentFailed:
    """What the run ends with, so that its row tells why."""
    return ProjectUnwritable(text) if why is HaltReason.FILE_SYSTEM_ERROR else AgentFailed(text)


def is_halted(row: RunRow | None, info: ProjectInfo, phase: Phase) -> bool:
    """Whether the run of this very phase has failed or was cancelled, and the files do not say so."""
    kind = info.run and info.run.kind
    ended = row is not None and (row.state == "cancelled" or (row.state == "failed" and row.error is not None))
    return ended and KINDS.get(phase) == kind


def as_it_is(row: RunRow | None, status: ProjectStatus, info: ProjectInfo) -> tuple[ProjectStatus, ProjectInfo]:
    """Status and info as the files would tell them, had they been written."""
    if row is None or not is_halted(row, info, status.phase):
        return status, info
    halted = replace(status, phase=Phase.HALTED, halt_reason=str(_reason(row)))
    return halted, replace(info, halted_in=status.phase, waiting=_waiting(row, status.phase))


def catch_up(row: RunRow | None, draft: Draft) -> None:
    """Put the halt into the files, now that they can be written."""
    if row is None or not is_halted(row, draft.info, draft.status.phase):
        return
    draft.info = replace(draft.info, waiting=_waiting(row, draft.status.phase))
    draft.say(f"Stopped: {told(row)}")
    draft.move(Phase.HALTED, halt_reason=_reason(row))


def told(row: RunRow) -> str:
    if row.state == "cancelled":
        return STOPPED_WORDS
    error = row.error or {}
    return f"{error.get('message', '')} {error.get('hint', '')}".strip()


def _waiting(row: RunRow, phase: Phase) -> Waiting:
    code = WorkStopped.code if row.state == "cancelled" else (row.error or {}).get("code", "")
    return Waiting("halted", told(row), Failure(str(phase), code))


def _reason(row: RunRow) -> HaltReason:
    code = (row.error or {}).get("code")
    return HaltReason.FILE_SYSTEM_ERROR if code in _DISK else HaltReason.AGENT_FAILURE
