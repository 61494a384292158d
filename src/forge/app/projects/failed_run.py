"""What becomes of a project whose run failed for a reason that nobody foresaw: it halts, and people are told why."""

from __future__ import annotations

import logging
from pathlib import Path

from forge.app.process.workshop import Workshop
from forge.app.projects.catalog import changed, topic_of
from forge.engine.errors import StepFailed
from forge.errors import ForgeError
from forge.events import BOARD, ProjectMoved, ProjectProgressed, ProjectSaid
from forge.pipeline.draft import Draft
from forge.plugins.contracts import Notice
from forge.projects.errors import ProjectUnwritable
from forge.projects.project import Project
from forge.projects.status import ACTIVE, HaltReason, Phase

_log = logging.getLogger(__name__)


def halt(shop: Workshop, directory: Path, run: str, error: Exception) -> None:
    """Halt the project with a reason, an event and a notice. Raises `error` if its files cannot be written.

    The event and the notice are told in any case: they are kept elsewhere.
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
        draft.info["waiting"] = {"kind": "halted", "text": text, "failed": {"phase": str(before.phase), "code": code}}
        draft.say(f"Stopped: {text}")
        draft.move(Phase.HALTED, halt_reason=why)

    topic = topic_of(project)
    notice = Notice(project.id, name, str(Phase.HALTED), "error", text)
    try:
        project.log.write("error", "halt", str(before.phase), text)
        changed(project, halted, f"halted: {why}")
    except (ForgeError, OSError):
        shop.events.publish(topic, ProjectProgressed(project.id, f"Stopped: {text}"))
        shop.sender.tell(f"{run}/failed", notice)
        raise error from None
    moved = ProjectMoved(project.id, str(before.phase), str(Phase.HALTED), str(why))
    shop.events.publish(topic, ProjectSaid(project.id, "ai", f"Stopped: {text}"))
    shop.events.publish(topic, moved)
    shop.events.publish(BOARD, moved)
    shop.sender.tell(f"{run}/failed", notice)


def sentence(error: Exception) -> str:
    """What happened and what to do, for a person."""
    if isinstance(error, ForgeError):
        return f"{error.message} {error.hint}".strip()
    if isinstance(error, OSError):
        return f"A file cannot be read or written: {error.strerror or error}. Mend it, then resume."
    said = str(error).strip()
    return f"Something went wrong: {type(error).__name__}{f': {said}' if said else ''}. Resume to try again."
