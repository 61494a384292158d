"""A change of a project: its files in one commit, and the events that follow from that commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from forge.events import BOARD, Event, ProjectMoved, ProjectSaid
from forge.git import GitCommitVFS, Repository
from forge.pipeline.draft import CHAT, STATUS, Draft
from forge.pipeline.memory_notes import remember_move
from forge.plugins.roles import Card, DeliverableType
from forge.projects import chat
from forge.projects.status import Phase, ProjectStatus

if TYPE_CHECKING:
    from forge.json_value import Json
    from forge.projects.chat import ChatMessage
    from forge.projects.project import Project

What = Callable[[Draft], None]


class Emit(Protocol):
    """Publishes in the project's own topic, unless another one is named."""

    def __call__(self, event: Event, *, topic: str | None = None) -> None: ...


def commit_change(project: Project, what: What, message: str, *, now: float, step: str | None = None) -> Json:
    """Change the files as one commit. Gives what the commit changed that others want to hear of."""

    def change(read: Callable[[str], str | None]) -> Mapping[str, str | bytes | None]:
        draft = Draft(read, now)
        before = draft.status.phase
        what(draft)
        if draft.status.phase is not before:
            remember_move(draft, before)
        return draft.files()

    done = _outcome(project, project.records.update(change, message, step=step))
    if done["before"] != done["phase"]:
        project.log.write("info", "phase_transition", done["phase"], f"{done['before']} → {done['phase']}")
    return done


def publish_change(project: Project, done: Json, emit: Emit) -> bool:
    """Whether the project is in another phase now."""
    for message in done["said"]:
        emit(ProjectSaid(project.id, message["role"], message["text"]))
    if done["before"] == done["phase"]:
        return False
    moved = ProjectMoved(project.id, done["before"], done["phase"], done["halt_reason"])
    emit(moved)
    emit(moved, topic=BOARD)
    return True


def card_of(project: Project, types: Mapping[str, DeliverableType]) -> Card:
    status = project.status()
    type_ = types.get(status.deliverable_type or "")
    return Card(
        project.id,
        project.name,
        str(status.phase),
        status.agent,
        str(project.directory),
        builds_code=status.phase is Phase.BUILDING and type_ is not None and type_.needs_code,
    )


def note_cards(draft: Draft, cards: Mapping[str, str]) -> None:
    draft.info = replace(draft.info, cards={**draft.info.cards, **cards})


def _outcome(project: Project, commit: str | None) -> Json:
    """The commit itself is asked: a repeated step gives the same."""
    now = project.status()
    done: Json = {"commit": commit, "before": str(now.phase), "phase": str(now.phase), "said": []}
    if commit is not None:
        repo = Repository.open(project.directory)
        parents = repo.commit(commit).parents
        old, new = (repo.commit_vfs(id_) if id_ else None for id_ in (next(iter(parents), None), commit))
        then, now = _status(old) or now, _status(new) or now
        before, after = _chat(old), _chat(new)
        said = after[len(before) :] if after[: len(before)] == before else after
        done |= {"before": str(then.phase), "phase": str(now.phase)}
        done["said"] = [{"role": message.role, "text": message.content} for message in said]
    return {**done, "halt_reason": now.halt_reason and str(now.halt_reason), "name": now.project_name or project.name}


def _status(files: GitCommitVFS | None) -> ProjectStatus | None:
    return ProjectStatus.from_json(files.read_file(STATUS)) if files is not None and files.file_exists(STATUS) else None


def _chat(files: GitCommitVFS | None) -> tuple[ChatMessage, ...]:
    return chat.parse(files.read_file(CHAT)) if files is not None and files.file_exists(CHAT) else ()
