"""Conversations on branches as one person may have them: said, followed, ended, forked, rewound; and their context."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from forge.app.access.identity import Who
from forge.app.admin.models import refuse_paths
from forge.app.process.work_loop import on_work_loop
from forge.app.process.workshop import Workshop
from forge.app.repositories.branches import BranchMade, BranchMove, tip_of
from forge.app.repositories.catalog import actor_of, moved_by, repository, subject_of
from forge.app.sessions import context as session_context
from forge.app.sessions import conversation
from forge.app.sessions import messages as session_messages
from forge.app.sessions.branch_turn import turn_on, unfinished_run
from forge.app.sessions.context_change import change_found
from forge.app.sessions.conversation import (
    BranchWithTalk,
    Conversation,
    SessionView,
    TurnEntry,
    Working,
    turn_entry,
    view_of,
    working_of,
)
from forge.app.sessions.turn_end import TurnEnd
from forge.app.values.pages import Page, checked, unreadable
from forge.engine.errors import RunUnknown
from forge.errors import InvalidInput
from forge.git import Repository
from forge.sessions.head import ActiveFile
from forge.sessions.places import Sessions
from forge.sessions.turns import TurnMissing


@dataclass(frozen=True, slots=True)
class Sent:
    run: str
    topic: str
    after: int
    model: str


@dataclass(frozen=True, slots=True)
class TurnRun:
    end: TurnEnd | None
    """None while it continues."""
    after: int
    """The id of the last event of the branch so far."""


def list_sessions(shop: Workshop, who: Who, repo_id: str) -> tuple[SessionView, ...]:
    """Branches on which somebody has talked with an agent, or does right now."""
    found = conversation.branches_with_talk(_sessions(shop, repository(shop, who, repo_id)))
    views = (_listed(shop, repo_id, each) for each in found)
    return tuple(view for view in views if view.turns or view.working)


def session(shop: Workshop, who: Who, repo_id: str, branch: str, *, at: str | None = None) -> SessionView:
    repo = repository(shop, who, repo_id)
    tip_of(repo, branch)
    found = conversation.conversation(_sessions(shop, repo), branch, at, limit=0)
    turn = turn_on(shop, repo, branch) if at is None else None
    found = replace(found, working=None if turn is None else turn.named(branch))
    return view_of(repo_id, branch, found, waits_for="" if turn is None else turn.waits_for)


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
    items = tuple(turn_entry(moment, whole=whole) for moment in found[:count])
    return Page(items, items[-1].id if len(found) > count else None)


def turn(shop: Workshop, who: Who, repo_id: str, branch: str, which: str) -> TurnEntry:
    """By its number, its id or the end of that, by which it was known while it ran."""
    repo = repository(shop, who, repo_id)
    tip_of(repo, branch)
    found = conversation.moment_named(_sessions(shop, repo), branch, which)
    if found is not None:
        return turn_entry(found, whole=True)
    raise TurnMissing("There is no such turn on this branch.", hint="List the turns to see what there is.")


@on_work_loop
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
        shop, repo, branch, text, model=model, agent=agent, asks=asks, start=start, asker=who
    )
    return Sent(sent.run, sent.topic, sent.after, sent.model)


@on_work_loop
async def turn_run(shop: Workshop, who: Who, repo_id: str, branch: str, run: str, *, wait: float) -> TurnRun:
    """How the turn of a run ended, after waiting so long for it. An error that kept it from beginning is raised."""
    repo = await asyncio.to_thread(repository, shop, who, repo_id)
    subject = subject_of(repo, branch)
    if (await asyncio.to_thread(shop.engine.status, run)).subject != subject:
        raise RunUnknown(f"There is no run {run} on this branch.", hint="Send a message to begin one.")
    await shop.engine.wait(run, wait)
    has_ended = (await asyncio.to_thread(shop.engine.status, run)).has_ended
    end = await session_messages.end_of(shop, run) if has_ended else None
    return TurnRun(end, await asyncio.to_thread(shop.events.last, subject.topic))


@on_work_loop
async def cancel(shop: Workshop, who: Who, repo_id: str, branch: str) -> Working | None:
    """None where no turn is under way."""
    repo = await asyncio.to_thread(repository, shop, who, repo_id, "run")
    held = await session_messages.cancel(shop, repo, branch, asker=who)
    if held is None:
        await asyncio.to_thread(tip_of, repo, branch)
    return working_of(held)


def fork(shop: Workshop, who: Who, repo_id: str, branch: str, which: str, *, name: str) -> BranchMade:
    """A branch as this one was right after a turn: files and conversation."""
    repo = repository(shop, who, repo_id, "write")
    tip = conversation.fork_at(_sessions(shop, repo), branch, which, name, actor=actor_of(who))
    shop.feed.publish(repo)
    return BranchMade(name, tip)


def rewind(shop: Workshop, who: Who, repo_id: str, branch: str, which: str) -> BranchMove:
    """Back to right after a turn; the old tip is kept."""
    repo = repository(shop, who, repo_id, "write")
    operation = conversation.rewind_to(_sessions(shop, repo), branch, which, actor=actor_of(who))
    shop.feed.publish(repo)
    return BranchMove(branch, moved_by(operation).get(branch), operation.id)


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
    tip_of(repo, branch)
    wanted = [ActiveFile(path, tuple(_lines(*each) for each in ranges)) for path, ranges in add]
    return change_found(shop, who, repo, _sessions(shop, repo), branch, add=wanted, remove=remove)


def _lines(first: int, last: int) -> tuple[int, int]:
    if not 1 <= first <= last:
        raise InvalidInput(f"There are no lines {first} to {last}.", hint="Say the first line, then the last.")
    return first, last


def _sessions(shop: Workshop, repo: Repository) -> Sessions:
    return conversation.sessions_of(repo, shop.settings)


def _listed(shop: Workshop, repo_id: str, each: BranchWithTalk) -> SessionView:
    run = None if each.working is None else unfinished_run(shop, each.working)
    found = Conversation(each.head, (), (), None if run is None else each.working)
    return view_of(repo_id, each.branch.name, found, waits_for="" if run is None else run.waits_for)
