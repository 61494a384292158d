"""Messages to agents: a person's message becomes a durable turn on a branch, which can be followed and cancelled."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass
from typing import Any

from forge.agents.profile import ASK_USER
from forge.agents.turn import TurnEnd, TurnRequest
from forge.app.admin.profiles import profiles_of
from forge.app.process.workshop import Workshop
from forge.app.sessions.answerer import answering, meant
from forge.app.sessions.turn_end import end_from_json
from forge.engine.errors import RunUnknown
from forge.errors import ForgeError, InvalidInput
from forge.events import Event
from forge.git import Actor, ActorKind, RefMove, Repository
from forge.git.process.liveness import mark_of_this_process
from forge.git.refs.reservations import BranchBusy, Reservation, busy, release, reservation
from forge.store.listeners import Live
from forge.store.runs import RunRow

Json = dict[str, Any]
WORKFLOW = "turn"
_LONGEST_MESSAGE = 400_000
_PATIENCE = 30.0
_AGAIN = 0.05
_ASKED_AGAIN = 0.2
_MANY = 1000
_END_IT = "Or end it with `forge session cancel --branch {}`; its words are kept."


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A turn that has begun, and where to hear of it."""

    run: str
    topic: str
    after: int
    model: str


async def send_message(
    shop: Workshop,
    repo: Repository,
    branch: str,
    text: str,
    *,
    model: str | None = None,
    agent: str | None = None,
    asks: bool = True,
    start: str | None = None,
) -> SentMessage:
    """Begin a turn. A branch that is not there is made from `start` or HEAD; what would fail later is refused now.

    `asks`: somebody is there to answer, so the agent may ask back.
    """
    if not text.strip():
        raise InvalidInput("The message is empty.", hint="Say what you want to have done.")
    if len(text) > _LONGEST_MESSAGE:
        raise InvalidInput("The message is too long.", hint="Put long material into a file of the branch.")
    model, agent = meant(shop.settings, model, agent)
    name = await asyncio.to_thread(answering, shop.settings, shop.environ, model, agent)
    profile = None
    if agent is None:
        profile = await asyncio.to_thread(_profile, shop, asks=asks)
    actor = Actor(ActorKind.AGENT, name)
    await finish_interrupted(shop, repo, branch)
    await asyncio.to_thread(_made_ready, repo, branch, actor, start or "HEAD")
    who = await asyncio.to_thread(repo.signature)
    mark = secrets.token_hex(6)
    request = TurnRequest(mark, branch, shop.redactor.text(text), f"{who.name} <{who.email}>", time.time(), name)
    topic = topic_of(repo, branch)
    after = await asyncio.to_thread(shop.events.last, topic)
    arguments = {"repository": str(repo.git_dir), "agent": agent, "profile": profile, **asdict(request)}
    shop.begun.add(run_of(mark))
    begun = await shop.engine.start_run(WORKFLOW, arguments, run_id=run_of(mark), topic=topic, anywhere=True)
    if begun.elsewhere:
        shop.begun.discard(begun.id)
    return SentMessage(run_of(mark), topic, after, name)


def _profile(shop: Workshop, *, asks: bool) -> Json:
    profile = profiles_of(shop.settings).get("chat")
    return (profile if asks else profile.without_tools(ASK_USER)).to_json()


def _made_ready(repo: Repository, branch: str, actor: Actor, start: str) -> None:
    tip = repo.refs.tip(branch)
    repo.refs.refuse_unless_allowed([RefMove(f"refs/heads/{branch}", tip, tip)], actor)
    if tip is None and not repo.is_empty:
        repo.create_branch(branch, start, actor=actor)


async def follow(shop: Workshop, sent: SentMessage) -> AsyncIterator[Event]:
    """What happens in the turn, as it happens, until it has ended."""
    last = sent.after
    ended = asyncio.ensure_future(shop.engine.handle(sent.run).result())
    async with aclosing(shop.events.follow(sent.topic, sent.after)) as heard:
        while not ended.done():
            coming = asyncio.ensure_future(anext(heard))
            await asyncio.wait({coming, ended}, return_when=asyncio.FIRST_COMPLETED)
            if coming.done():
                item = coming.result()
                last = last if isinstance(item, Live) else item.id
                yield item.event
            else:
                coming.cancel()
                await asyncio.gather(coming, return_exceptions=True)
    # What a run said is on record before its end is, so the rest is there now.
    for recorded in await asyncio.to_thread(shop.events.after, sent.topic, last):
        yield recorded.event
    with suppress(ForgeError):
        await ended


async def end_of(shop: Workshop, run: str) -> TurnEnd:
    """How a turn ended, whoever ran it. An error that kept it from beginning is raised."""
    return end_from_json(await shop.engine.handle(run).result())


async def cancel(shop: Workshop, repo: Repository, branch: str) -> Reservation | None:
    """End the turn on `branch`, wherever it runs; its conversation is kept. None if there is no turn."""
    held, run = await asyncio.to_thread(_on_branch, shop, repo, branch)
    if run is not None and not run.has_ended:
        # Even a turn whose process is dead has words to keep.
        shop.engine.take_over(run.id)
        await shop.engine.cancel(run.id)
        await shop.engine.wait(run.id, _PATIENCE)
        # One that had not yet taken the branch is named by its run alone.
        return held or _named_by(run, branch)
    if held is not None:
        # Nobody will ever go on with it: the database that knew it is gone.
        await asyncio.to_thread(release, repo.common_dir, branch, held.holder)
    return held


def _on_branch(shop: Workshop, repo: Repository, branch: str) -> tuple[Reservation | None, RunRow | None]:
    """Who has taken the branch, and the run that it is for; or the one that is about to take it."""
    held = reservation(repo.common_dir, branch)
    return held, _unfinished(shop, repo, branch) if held is None else _run(shop, held)


async def finish_interrupted(shop: Workshop, repo: Repository, branch: str) -> None:
    """A turn whose process died is gone on with by this one first; a turn at work elsewhere is in the way."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        held, run = await asyncio.to_thread(_on_branch, shop, repo, branch)
        if held is None and run is None:
            return
        if held is None:
            # Begun, and not at work yet: it is about to take the branch, here or where it began.
            if time.monotonic() > deadline:
                raise _in_the_way(branch)
            assert run is not None
            shop.engine.take_over(run.id)
            await asyncio.sleep(_AGAIN)
        elif run is None or run.has_ended:
            await asyncio.to_thread(release, repo.common_dir, branch, held.holder)
        elif held.abandoned and (lacking := await asyncio.to_thread(shop.engine.lacks, run.id)):
            raise BranchBusy(f"A turn on {branch} was interrupted. {lacking}", hint=_END_IT.format(branch))
        elif held.abandoned or _gone_on_with_here(shop, held):
            await _finished(shop, run.id, branch)
        else:
            raise busy(held)


async def _finished(shop: Workshop, run: str, branch: str) -> None:
    """Wait for its end, but not for a person: one that asks is in the way until it is answered."""
    shop.engine.take_over(run)
    ended = asyncio.ensure_future(shop.engine.handle(run).result())
    try:
        while not ended.done():
            asked = await asyncio.to_thread(shop.engine.open_questions, run_id=run)
            if asked:
                raise _asks(branch, asked[0].text)
            await asyncio.wait({ended}, timeout=_ASKED_AGAIN)
    finally:
        ended.cancel()
        # How it ends is its own affair; this message does not fail with it.
        await asyncio.gather(ended, return_exceptions=True)


def about_to_begin(shop: Workshop, repo: Repository, branch: str) -> Reservation | None:
    """A turn that was begun and has not taken the branch yet: whoever runs it takes a moment to find it."""
    run = _unfinished(shop, repo, branch)
    return None if run is None else _named_by(run, branch)


def _named_by(run: RunRow, branch: str) -> Reservation:
    return Reservation(branch, run.id.removeprefix(run_of("")), "An agent", run.created, "")


def _unfinished(shop: Workshop, repo: Repository, branch: str) -> RunRow | None:
    topic = topic_of(repo, branch)
    runs = shop.engine.runs(states=("queued", "waiting", "running"), name=WORKFLOW, limit=_MANY)
    return next((run for run in runs if run.topic == topic), None)


def _gone_on_with_here(shop: Workshop, held: Reservation) -> bool:
    """Whether this process took the turn over from a dead one, and may have done so before anybody asked for it."""
    run = run_of(held.holder)
    meant_for_here = run in shop.begun or shop.engine.was_handed(run)
    return held.process == mark_of_this_process() and not meant_for_here


def _in_the_way(branch: str) -> BranchBusy:
    return BranchBusy(
        f"A turn on {branch} was begun elsewhere and has not ended.",
        hint=f"Wait for it, or end it with `forge session cancel --branch {branch}`.",
    )


def _asks(branch: str, question: str) -> BranchBusy:
    return BranchBusy(
        f"The turn on {branch} waits for an answer: {question}",
        hint=f"Give it with `forge session answer --branch {branch} -m …`, or end the turn with "
        f"`forge session cancel --branch {branch}`.",
    )


def topic_of(repo: Repository, branch: str) -> str:
    """Where events of a branch are told. Names in git are bytes; SQL keeps text."""
    return f"branch:{repo.common_dir}:{branch}".encode("utf-8", "backslashreplace").decode()


def run_of(mark: str) -> str:
    """The run of the turn that reserves its branch under `mark`."""
    return f"turn-{mark}"


def waits_for(shop: Workshop, held: Reservation) -> str:
    """Why nobody goes on with the turn that reserved a branch; empty where somebody does."""
    run = _run(shop, held) if held.abandoned else None
    return "" if run is None else run.waits_for


def is_unfinished(shop: Workshop, held: Reservation) -> bool:
    """Whether the work that reserved a branch is still going on, or will be gone on with."""
    run = _run(shop, held)
    return run is not None and not run.has_ended


def _run(shop: Workshop, held: Reservation) -> RunRow | None:
    try:
        return shop.engine.status(run_of(held.holder))
    except RunUnknown:
        return None
