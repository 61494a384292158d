"""Messages to agents: a person's message becomes a durable turn on a branch, which can be followed and cancelled."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass

from forge.agents.profile import ASK_USER
from forge.agents.turn import TurnEnd, TurnRequest
from forge.app.access.identity import LOCAL, Who, audit
from forge.app.admin.profiles import profiles_of
from forge.app.process.workshop import Workshop
from forge.app.repositories.catalog import id_of, subject_of
from forge.app.sessions.answerer import answering, meant
from forge.app.sessions.branch_turn import WORKFLOW, release_left_over, run_of, turn_on
from forge.app.sessions.turn_end import end_from_json
from forge.errors import ForgeError, InvalidInput
from forge.events import Event
from forge.git import Actor, ActorKind, RefMove, Repository, Request
from forge.git.process.liveness import mark_of_this_process
from forge.git.refs.reservations import BranchBusy, Reservation, busy
from forge.json_value import Json
from forge.store.listeners import Live

__all__ = ["WORKFLOW", "TurnEnd", "run_of"]

_LONGEST_MESSAGE = 400_000
_PATIENCE = 30.0
_AGAIN = 0.05
_ASKED_AGAIN = 0.2
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
    asker: Who = LOCAL,
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
    actor = Actor(ActorKind.AGENT, name, request=Request(asker.id, asker.key))
    await finish_interrupted(shop, repo, branch)
    await asyncio.to_thread(_made_ready, shop, repo, branch, actor, start or "HEAD")
    who = await asyncio.to_thread(repo.signature)
    mark = secrets.token_hex(6)
    request = TurnRequest(
        mark,
        branch,
        shop.redactor.text(text),
        f"{who.name} <{who.email}>",
        time.time(),
        name,
        user=asker.id,
        key=asker.key,
    )
    subject = subject_of(repo, branch)
    after = await asyncio.to_thread(shop.events.last, subject.topic)
    arguments = {"repository": str(repo.git_dir), "agent": agent, "profile": profile, **asdict(request)}
    shop.begun.add(run_of(mark))
    begun = await shop.engine.start_run(WORKFLOW, arguments, run_id=run_of(mark), subject=subject, anywhere=True)
    if begun.elsewhere:
        shop.begun.discard(begun.id)
    await asyncio.to_thread(_audited, shop, asker, repo, "session.send", f"{branch}: {begun.id}")
    return SentMessage(run_of(mark), subject.topic, after, name)


def _profile(shop: Workshop, *, asks: bool) -> Json:
    profile = profiles_of(shop.settings).get("chat")
    return (profile if asks else profile.without_tools(ASK_USER)).to_json()


def _made_ready(shop: Workshop, repo: Repository, branch: str, actor: Actor, start: str) -> None:
    tip = repo.refs.tip(branch)
    repo.refs.refuse_unless_allowed([RefMove(f"refs/heads/{branch}", tip, tip)], actor)
    if tip is None and not repo.is_empty:
        repo.create_branch(branch, start, actor=actor.doing("branch.create", ""))
        shop.feed.publish(repo)  # before the turn, so that it is not among the turn's events


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


def _audited(shop: Workshop, who: Who, repo: Repository, action: str, detail: str) -> None:
    audit(shop, who, action, f"repository:{id_of(repo)}", detail)


async def cancel(shop: Workshop, repo: Repository, branch: str, *, asker: Who = LOCAL) -> Reservation | None:
    """End the turn on `branch`, wherever it runs; its conversation is kept. None if there is no turn."""
    held = await _cancelled(shop, repo, branch)
    if held is not None:
        await asyncio.to_thread(_audited, shop, asker, repo, "session.cancel", f"{branch}: {held.holder}")
    return held


async def _cancelled(shop: Workshop, repo: Repository, branch: str) -> Reservation | None:
    turn = await asyncio.to_thread(turn_on, shop, repo, branch)
    if turn is None:
        return await asyncio.to_thread(release_left_over, shop, repo, branch)
    # Even a turn whose process is dead has words to keep.
    shop.engine.take_over(turn.run.id)
    await shop.engine.cancel(turn.run.id)
    await shop.engine.wait(turn.run.id, _PATIENCE)
    return turn.named(branch)


async def finish_interrupted(shop: Workshop, repo: Repository, branch: str) -> None:
    """This process resumes a turn whose process died, and waits for its end; a turn at work elsewhere is in the way."""
    deadline = time.monotonic() + _PATIENCE
    while (turn := await asyncio.to_thread(turn_on, shop, repo, branch)) is not None:
        if turn.held is None:
            if time.monotonic() > deadline:
                raise _in_the_way(branch)
            shop.engine.take_over(turn.run.id)
            await asyncio.sleep(_AGAIN)
        elif turn.held.abandoned and (lacking := await asyncio.to_thread(shop.engine.lacks, turn.run.id)):
            raise BranchBusy(f"A turn on {branch} was interrupted. {lacking}", hint=_END_IT.format(branch))
        elif turn.held.abandoned or _gone_on_with_here(shop, turn.held):
            await _finished(shop, turn.run.id, branch)
        else:
            raise busy(turn.held)
    await asyncio.to_thread(release_left_over, shop, repo, branch)


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
