"""Conversations on branches as one person may have them: said, followed, ended, forked, rewound; and their context."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from forge.app.access.identity import Who
from forge.app.admin.models import refuse_paths
from forge.app.process.workshop import Workshop
from forge.app.repositories.branches import BranchMade, BranchMove, tip_of
from forge.app.repositories.catalog import moved_by, record, repository
from forge.app.sessions import context as session_context
from forge.app.sessions import conversation
from forge.app.sessions import messages as session_messages
from forge.app.sessions.conversation import Conversation
from forge.app.sessions.turn_end import TurnEnd
from forge.app.values.paging import Page, checked, unreadable
from forge.engine.errors import RunUnknown
from forge.errors import InvalidInput
from forge.git import Repository
from forge.git.refs.reservations import Reservation
from forge.sessions.head import ActiveFile
from forge.sessions.messages import AssistantMessage, Usage
from forge.sessions.places import Sessions
from forge.sessions.timeline import Moment
from forge.sessions.turns import Turn, TurnMissing, item_json

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Working:
    turn: str
    who: str
    since: float
    waits_for: str = ""
    """Why nobody goes on with it, where its process died: what this server lacks."""


@dataclass(frozen=True, slots=True)
class TurnEntry:
    id: str
    number: int
    commit: str | None
    started: float
    model: str
    status: str
    reason: str
    asked: str
    answered: str
    files: tuple[str, ...]
    usage: Usage
    messages: tuple[Json, ...] | None = None
    """All that was said and done; only where one turn is asked for."""


@dataclass(frozen=True, slots=True)
class SessionView:
    branch: str
    turns: int
    messages: int
    usage: Usage
    active_files: tuple[ActiveFile, ...]
    merged_turns: tuple[str, ...]
    working: Working | None
    topic: str


@dataclass(frozen=True, slots=True)
class Sent:
    run: str
    topic: str
    after: int
    model: str


@dataclass(frozen=True, slots=True)
class TurnRun:
    end: TurnEnd | None
    """None while it goes on."""
    after: int
    """The id of the last event of the branch so far."""


def list_sessions(shop: Workshop, who: Who, repo_id: str) -> tuple[SessionView, ...]:
    """Branches on which somebody has talked with an agent, or does right now."""
    found = conversation.branches_with_talk(_sessions(shop, repository(shop, who, repo_id)))
    return tuple(_view(repo_id, each.branch.name, Conversation(each.head, (), (), each.working)) for each in found)


def session(shop: Workshop, who: Who, repo_id: str, branch: str, *, at: str | None = None) -> SessionView:
    repo = repository(shop, who, repo_id)
    tip_of(repo, branch)
    found = conversation.conversation(_sessions(shop, repo), branch, at, limit=0)
    if at is None and found.working is None:
        begun = session_messages.about_to_begin(shop, repo, branch)
        found = replace(found, working=begun)
    seen = _view(repo_id, branch, found)
    if found.working is None or seen.working is None:
        return seen
    return replace(seen, working=replace(seen.working, waits_for=session_messages.waits_for(shop, found.working)))


def list_turns(
    shop: Workshop,
    who: Who,
    repo_id: str,
    branch: str,
    *,
    at: str | None,
    after: str | None,
    limit: int,
    whole: bool = False,
) -> Page[TurnEntry]:
    """Newest first; `whole` with all that was said and done. `after` is the id of the last one that is known."""
    count = checked(limit)
    repo = repository(shop, who, repo_id)
    tip_of(repo, branch)
    try:
        found = conversation.some_moments(_sessions(shop, repo), branch, at=at, after=after, limit=count + 1)
    except TurnMissing as e:
        if after:
            raise unreadable(after) from e
        raise
    items = tuple(_turn(moment, whole=whole) for moment in found[:count])
    return Page(items, items[-1].id if len(found) > count else None)


def turn(shop: Workshop, who: Who, repo_id: str, branch: str, which: str) -> TurnEntry:
    """By its number, its id or the end of that, by which it was known while it ran."""
    repo = repository(shop, who, repo_id)
    tip_of(repo, branch)
    found = conversation.moment_named(_sessions(shop, repo), branch, which)
    if found is not None:
        return _turn(found, whole=True)
    raise TurnMissing("There is no such turn on this branch.", hint="List the turns to see what there is.")


async def send(
    shop: Workshop,
    who: Who,
    repo_id: str,
    branch: str,
    text: str,
    *,
    model: str | None,
    agent: str | None,
    asks: bool = True,
    start: str | None = None,
) -> Sent:
    repo = await asyncio.to_thread(repository, shop, who, repo_id, "run")
    refuse_paths(who, model)
    refuse_paths(who, agent)
    sent = await session_messages.send_message(
        shop, repo, branch, text, model=model, agent=agent, asks=asks, start=start
    )
    await asyncio.to_thread(record, shop, who, repo, "session.send", {}, detail=f"{branch}: {sent.run}")
    return Sent(sent.run, _topic(repo_id, branch), sent.after, sent.model)


async def turn_run(shop: Workshop, who: Who, repo_id: str, branch: str, run: str, *, wait: float) -> TurnRun:
    """How the turn of a run ended, after waiting so long for it. An error that kept it from beginning is raised."""
    repo = await asyncio.to_thread(repository, shop, who, repo_id)
    topic = session_messages.topic_of(repo, branch)
    if (await asyncio.to_thread(shop.engine.status, run)).topic != topic:
        raise RunUnknown(f"There is no run {run} on this branch.", hint="Send a message to begin one.")
    await shop.engine.wait(run, wait)
    has_ended = (await asyncio.to_thread(shop.engine.status, run)).has_ended
    end = await session_messages.end_of(shop, run) if has_ended else None
    return TurnRun(end, await asyncio.to_thread(shop.events.last, topic))


async def cancel(shop: Workshop, who: Who, repo_id: str, branch: str) -> Working | None:
    """None where no turn is under way."""
    repo = await asyncio.to_thread(repository, shop, who, repo_id, "run")
    held = await session_messages.cancel(shop, repo, branch)
    if held is None:
        await asyncio.to_thread(tip_of, repo, branch)
    else:
        await asyncio.to_thread(record, shop, who, repo, "session.cancel", {}, detail=f"{branch}: {held.holder}")
    return _working(held)


def fork(shop: Workshop, who: Who, repo_id: str, branch: str, which: str, *, name: str) -> BranchMade:
    """A branch as this one was right after a turn: files and conversation."""
    repo = repository(shop, who, repo_id, "write")
    tip = conversation.fork_at(_sessions(shop, repo), branch, which, name)
    record(shop, who, repo, "session.fork", {name: tip}, detail=f"{branch} at {which} as {name}")
    return BranchMade(name, tip)


def rewind(shop: Workshop, who: Who, repo_id: str, branch: str, which: str) -> BranchMove:
    """Back to right after a turn; the old tip is kept."""
    repo = repository(shop, who, repo_id, "write")
    operation = conversation.rewind_to(_sessions(shop, repo), branch, which)
    moved = moved_by(operation)
    record(shop, who, repo, "session.rewind", moved, detail=f"{branch} to {which}")
    return BranchMove(branch, moved.get(branch), operation.id)


def context(shop: Workshop, who: Who, repo_id: str, branch: str) -> tuple[ActiveFile, ...]:
    repo = repository(shop, who, repo_id)
    tip_of(repo, branch)
    return session_context.active_files(_sessions(shop, repo), branch)


def change_context(
    shop: Workshop,
    who: Who,
    repo_id: str,
    branch: str,
    *,
    add: Sequence[tuple[str, Sequence[tuple[int, int]]]],
    remove: Sequence[str],
) -> tuple[ActiveFile, ...]:
    """Files with ranges of lines to take in, and paths to take out. No commit: the next turn has them."""
    repo = repository(shop, who, repo_id, "write")
    tip = tip_of(repo, branch)
    sessions = _sessions(shop, repo)
    wanted = [ActiveFile(path, tuple(_lines(*each) for each in ranges)) for path, ranges in add]
    before = sessions.head(branch)
    if remove:
        session_context.remove(sessions, branch, remove)
    if wanted:
        session_context.add(sessions, branch, wanted)
    if sessions.head(branch) != before:
        record(shop, who, repo, "context.change", {branch: tip}, detail=branch)
    return session_context.active_files(sessions, branch)


def _lines(first: int, last: int) -> tuple[int, int]:
    if not 1 <= first <= last:
        raise InvalidInput(f"There are no lines {first} to {last}.", hint="Say the first line, then the last.")
    return first, last


def _sessions(shop: Workshop, repo: Repository) -> Sessions:
    return conversation.sessions_of(repo, shop.settings)


def _topic(repo_id: str, branch: str) -> str:
    return f"branch:{repo_id}:{branch}"


def _view(repo_id: str, branch: str, found: Conversation) -> SessionView:
    head = found.head
    return SessionView(
        branch=branch,
        turns=head.turns,
        messages=head.messages,
        usage=head.usage,
        active_files=head.active_files,
        merged_turns=found.merged,
        working=_working(found.working),
        topic=_topic(repo_id, branch),
    )


def _working(held: Reservation | None) -> Working | None:
    return None if held is None else Working(held.holder, held.who, held.since)


def _turn(moment: Moment, *, whole: bool = False) -> TurnEntry:
    each = moment.turn
    return TurnEntry(
        id=each.id,
        number=each.number,
        commit=moment.commit,
        started=each.started,
        model=each.model,
        status=each.status.value,
        reason=each.reason,
        asked=each.asked,
        answered=_answer(each),
        files=each.files,
        usage=each.usage,
        messages=tuple(item_json(item) for item in each.items) if whole else None,
    )


def _answer(each: Turn) -> str:
    said = (item.text for item in reversed(each.items) if isinstance(item, AssistantMessage))
    return next((text for text in said if text.strip()), "")
