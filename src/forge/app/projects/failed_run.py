"""What becomes of a project whose run failed for a reason that nobody foresaw: it halts, and people are told why."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from forge.app.projects.change import change_project
from forge.app.projects.halted_runs import failure
from forge.engine.errors import StepFailed
from forge.errors import ForgeError
from forge.events import BOARD, ProjectMoved, ProjectProgressed
from forge.plugins.roles import Notice
from forge.projects.errors import ProjectUnwritable
from forge.projects.info import Failure, Waiting
from forge.projects.project import Project
from forge.projects.status import ACTIVE, HaltReason, Phase, ProjectStatus

if TYPE_CHECKING:
    from forge.app.process.workshop import Workshop
    from forge.pipeline.draft import Draft

_log = logging.getLogger(__name__)
_ENDS = 30.0


def halt(shop: Workshop, directory: Path, run: str, error: Exception) -> None:
    """Halt the project with a reason, an event and a notice.

    Where its files cannot be written, the run itself has to tell: it ends with what is raised here, and
    `tell_when_ended` tells of the halt.
    """
    project = Project.at(directory)
    before = project.status()
    if before.phase not in ACTIVE:
        return
    cause = error.__cause__ if isinstance(error, StepFailed) and isinstance(error.__cause__, Exception) else error
    text = shop.redactor.text(sentence(cause))
    why = HaltReason.FILE_SYSTEM_ERROR if isinstance(cause, OSError | ProjectUnwritable) else HaltReason.AGENT_FAILURE
    name = before.project_name or project.name
    _log.info("run %s of project %s failed", run, project.id, exc_info=error)

    def halted(draft: Draft) -> None:
        code = cause.code if isinstance(cause, ForgeError) else ""
        draft.info = replace(draft.info, waiting=Waiting("halted", text, Failure(str(before.phase), code)))
        draft.say(f"Stopped: {text}")
        draft.move(Phase.HALTED, halt_reason=why)

    notice = Notice(project.id, name, str(Phase.HALTED), "error", text)
    try:
        project.log.write("error", "halt", str(before.phase), text)
        change_project(shop, project, halted, f"halted: {why}")
    except (ForgeError, OSError):
        shop.sender.tell(f"{run}/failed", notice)
        raise Unwritten(project, before, text, why) from error
    shop.sender.tell(f"{run}/failed", notice)


class Unwritten(Exception):
    """The halt is not in the project's files."""

    def __init__(self, project: Project, before: ProjectStatus, text: str, why: HaltReason) -> None:
        super().__init__(text)
        self.project = project
        self.before = before
        self.text = text
        self.why = why

    @property
    def failure(self) -> ForgeError:
        """What the run ends with."""
        return failure(self.why, self.text)


async def tell_when_ended(shop: Workshop, run: str, unwritten: Unwritten) -> None:
    """Whoever hears of it looks, and sees the halt only when the run has ended."""
    await shop.engine.wait(run, _ENDS)
    id_ = unwritten.project.id
    moved = ProjectMoved(id_, str(unwritten.before.phase), str(Phase.HALTED), str(unwritten.why))
    shop.events.publish(unwritten.project.subject.topic, ProjectProgressed(id_, f"Stopped: {unwritten.text}"))
    for topic in (unwritten.project.subject.topic, BOARD):
        shop.events.publish(topic, moved)


def sentence(error: Exception) -> str:
    """What happened and what to do, for a person."""
    if isinstance(error, ForgeError):
        return f"{error.message} {error.hint}".strip()
    if isinstance(error, OSError):
        return f"A file cannot be read or written: {error.strerror or error}. Mend it, then resume."
    said = str(error).strip()
    return f"Something went wrong: {type(error).__name__}{f': {said}' if said else ''}. Resume to try again."
