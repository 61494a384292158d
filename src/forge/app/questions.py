"""Questions that work waits for a person to answer. Each is answered once.

`answer` is awaited, because it wakes the run that asked; the other functions are synchronous.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from forge.app.access import identity, subject_rights
from forge.app.access.identity import Who
from forge.app.process.work_loop import on_work_loop
from forge.app.process.workshop import Workshop
from forge.app.projects.actions import perform
from forge.app.projects.catalog import workspace_of
from forge.app.projects.repository_rights import refuse_where_they_may_not_build
from forge.pipeline.actions import Action
from forge.pipeline.question_wait import Decision
from forge.question_kinds import INPUT, Answer, QuestionKind, accepted
from forge.store.errors import QuestionIsClosed, QuestionUnknown
from forge.store.questions import Question, Questions, QuestionState
from forge.subjects import run_subject

_ACTIONS = {
    INPUT: Action.PROVIDE_INPUT,
    "resume": Action.RESUME,
    "override": Action.OVERRIDE,
    "terminate": Action.TERMINATE,
}


@dataclass(frozen=True, slots=True)
class QuestionEntry:
    id: str
    run: str
    text: str
    context: str
    kind: QuestionKind
    options: tuple[str, ...]
    state: QuestionState
    asked: float
    expires: float | None
    answer: str | None
    project: str | None
    repository: str | None
    branch: str | None


@dataclass(frozen=True, slots=True)
class Answered:
    question: str
    counted: bool
    """False: the very same answer had been given before."""


def open_questions(
    shop: Workshop, who: Who, *, project: str | None = None, repository: str | None = None, branch: str | None = None
) -> tuple[QuestionEntry, ...]:
    """Those that `who` may see, oldest first; only those about what is named."""
    identity.require(who, "read")
    wanted = {"project": project, "repository": repository, "branch": branch}
    named = {name: value for name, value in wanted.items() if value is not None}
    asked = (each for each in shop.engine.open_questions() if subject_rights.may_see(shop, who, each.subject))
    entries = (_entry(each) for each in asked)
    return tuple(entry for entry in entries if all(getattr(entry, name) == value for name, value in named.items()))


def question(shop: Workshop, who: Who, id_: str) -> QuestionEntry:
    """One that is somebody else's is missing, like one that never was."""
    identity.require(who, "read")
    return _seen(shop, who, id_)


@on_work_loop
async def answer(shop: Workshop, who: Who, id_: str, text: str, *, choice: str | None = None) -> Answered:
    """The first answer counts; the same once more changes nothing, another one is refused.

    Where there are options, `choice` is one of them and `text` goes with it; without it, `text` names the option.
    """
    identity.require(who, "run")
    entry = await asyncio.to_thread(_seen, shop, who, id_, "run")
    given = accepted(entry.kind, entry.options, text, choice)
    if entry.kind is QuestionKind.DECISION and entry.project is not None:
        counted = await _decided(shop, who, entry, entry.project, given)
    else:
        if entry.project is not None:
            project = await asyncio.to_thread(workspace_of(shop.settings).open, entry.project)
            await asyncio.to_thread(refuse_where_they_may_not_build, shop, who, project)
        # It goes into the conversation, which stores no secrets.
        counted = await shop.engine.answer(id_, shop.redactor.text(given.choice or given.text))
    if counted:
        await asyncio.to_thread(identity.audit, shop, who, "question.answer", f"question:{id_}", entry.text[:200])
    return Answered(id_, counted)


async def _decided(shop: Workshop, who: Who, entry: QuestionEntry, project_id: str, given: Answer) -> bool:
    """A decision is an action on the project: its state machine has the last word."""
    chosen = given.choice or INPUT
    if entry.state == "answered" and entry.answer == Decision(chosen, given.text).to_text():
        return False
    if entry.state != "open":
        raise QuestionIsClosed(f"Question {entry.id} was closed before.", hint="See what its project did then.")
    project = await asyncio.to_thread(workspace_of(shop.settings).open, project_id)
    action = _ACTIONS[chosen]
    if action is not Action.TERMINATE:
        await asyncio.to_thread(refuse_where_they_may_not_build, shop, who, project)
    done = await perform(shop, project, action, text=given.text, confirmed=True, action_id=f"answer-{entry.id}")
    return done.changed


def _seen(shop: Workshop, who: Who, id_: str, scope: str = "read") -> QuestionEntry:
    if not id_.isascii():
        raise _unknown(id_)
    try:
        asked = Questions(shop.database).get(id_)
    except QuestionUnknown:
        # The same query as for somebody else's, so that the time does not reveal which of both it is.
        identity.may_see(shop, who, "project", id_)
        raise _unknown(id_) from None
    if not subject_rights.may_see(shop, who, asked.subject):
        raise _unknown(id_)
    subject_rights.require_right(shop, who, asked.subject, scope)
    return _entry(asked)


def _entry(asked: Question) -> QuestionEntry:
    subject = asked.subject or run_subject(asked.run)
    return QuestionEntry(
        id=asked.id,
        run=asked.run,
        text=asked.text,
        context=asked.context,
        kind=asked.kind,
        options=asked.options,
        state=asked.state,
        asked=asked.asked,
        expires=asked.expires,
        answer=asked.answer,
        project=subject.project,
        repository=subject.repository,
        branch=subject.branch,
    )


def _unknown(id_: str) -> QuestionUnknown:
    return QuestionUnknown(f"There is no question {id_}.", hint="List the open questions.")
