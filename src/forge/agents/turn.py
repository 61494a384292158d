"""A turn: a person's message → model ⇄ tools → one commit. Knows nothing of HTTP, terminals or pipelines.

A turn is a durable run. Opening, each answer of a model, each tool that reaches outside the branch and the commit are
steps, done once. Everything else is a function of what these gave, so a run that starts again after a crash arrives at
the same place without asking a model twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass

from forge.agents.decision_request import DecisionRequest, decision_of
from forge.agents.desk import Stopped, TurnDesk
from forge.agents.steps import Steps
from forge.agents.stream import Stream, begins_anew, past_of
from forge.agents.turn_commit import Landed, changed_files, land, without_subject
from forge.context.seen import Seen
from forge.engine.errors import RunCancelled
from forge.events import TurnCommitted, TurnSetAside, TurnStarted, TurnStopped
from forge.git import Actor, ActorKind, CommitId, Repository, Request, Signature, WorkInProgressVFS
from forge.git.refs.reservations import release, reserve
from forge.git.refs.snapshots import forget
from forge.json_value import Json
from forge.sessions.conversation import read_head
from forge.sessions.marks import Marks, take
from forge.sessions.messages import AssistantMessage, Usage, UserMessage
from forge.sessions.places import Sessions
from forge.sessions.redaction import Redactor
from forge.sessions.turns import Turn, TurnStatus, item_from_json, item_json, turn_id


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a person asks for. Turns into JSON and back, so that another process can continue with it."""

    mark: str
    """Random; names the turn together with its number."""
    branch: str
    text: str
    author: str
    asked: float
    model: str
    user: str = "local"
    key: str | None = None
    """Of whoever asked: the user's id, and that of the key."""
    title: str = ""
    """The subject of the commit where the model gives none; empty takes what was asked."""
    is_build: bool = False
    """A turn of a project's build: one that changes no file makes no commit."""


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """How a turn ended. `text` is the last word of the agent."""

    turn: str
    branch: str
    commit: str | None
    files: tuple[str, ...]
    text: str
    usage: Usage
    status: TurnStatus
    reason: str = ""
    set_aside: str | None = None
    decision: DecisionRequest | None = None
    """What a person has to decide before the task of a build can continue."""


@dataclass(frozen=True, slots=True)
class Room:
    """What every turn on a repository has around it."""

    repo: Repository
    sessions: Sessions
    stream: Stream
    redactor: Redactor


Work = Callable[[TurnDesk, Steps], Awaitable[None]]
"""Fills the desk: a loop with a model, or a program at work. Raises `Stopped` where it ends without success."""


async def run_turn(request: TurnRequest, room: Room, work: Work, steps: Steps) -> TurnEnd:
    """From the person's message to one commit, whatever happens in between."""
    place = await steps.step("open", lambda: asyncio.to_thread(_opened, request, room))
    # Also after a crash: the branch stays taken until the turn has ended.
    await asyncio.to_thread(reserve, room.repo.common_dir, request.branch, request.mark, request.model)
    steps.emit(TurnStarted(place["turn"], request.branch, request.model))
    desk = await asyncio.to_thread(_desk, request, room, place)
    status, reason = TurnStatus.DONE, ""
    try:
        await work(desk, steps)
    except Stopped as e:
        status, reason = e.status, room.redactor.text(e.reason)
    except RunCancelled:
        status, reason = TurnStatus.CANCELLED, "Cancelled by the person."
    if status is not TurnStatus.DONE:
        desk.vfs.discard()
        room.sessions.mount(desk.vfs, place["said_in"], _marks(place))
        desk.close()
    turn = Turn(
        id=place["turn"],
        parent=place["parent"],
        started=request.asked,
        model=request.model,
        items=tuple(desk.items),
        status=status,
        reason=reason,
        files=changed_files(desk.vfs),
        usage=desk.usage,
        seen=desk.seen.to_json(),
        opens=place["parent"] is None or begins_anew(desk.items),
    )
    done = await steps.step("commit", lambda: asyncio.to_thread(_committed, request, room.sessions, desk.vfs, turn))
    landed = Landed(**done)
    # Not a step: done again after a crash, it does nothing.
    taken = Marks() if landed.set_aside else _marks(place)
    await asyncio.to_thread(_tidy, request, room.repo, turn.id, taken)
    _tell(steps, request.branch, turn, landed)
    return TurnEnd(
        turn=turn.id,
        branch=request.branch,
        commit=landed.commit,
        files=turn.files,
        text=last_words(turn),
        usage=turn.usage,
        status=status,
        reason=reason,
        set_aside=landed.set_aside,
        decision=_decision(request, turn),
    )


def _opened(request: TurnRequest, room: Room) -> Json:
    """Take the branch for this turn and fix what it starts from."""
    reserve(room.repo.common_dir, request.branch, request.mark, request.model)
    vfs = room.repo.workspace(request.branch, actor=_actor(request))
    said_in = room.sessions.at(request.branch)
    marks = room.sessions.marks(request.branch)
    room.sessions.mount(vfs, said_in, marks)
    _hold(request, room, vfs.base, said_in)
    head = read_head(vfs)
    past = past_of(room.sessions.files(request.branch, said_in))
    added = room.stream.beginning(vfs, past, request.text)
    said = UserMessage(room.redactor.text(request.text), request.author, request.asked)
    return {
        "turn": turn_id(head.turns + 1, request.mark),
        "parent": head.last,
        "base": vfs.base,
        "said_in": said_in,
        "marks": marks.to_json(),
        "items": [item_json(item) for item in (*added.items, said)],
        "seen": added.seen.to_json(),
    }


def _hold(request: TurnRequest, room: Room, *commits: CommitId | None) -> None:
    """Whatever plain git does to the branch and its history meanwhile, the turn ends on what it began with."""
    room.repo.refs.hold(request.mark, [commit for commit in commits if commit is not None])


def _desk(request: TurnRequest, room: Room, place: Json) -> TurnDesk:
    _hold(request, room, place["base"], place["said_in"])
    vfs = room.repo.workspace(request.branch, actor=_actor(request), base=place["base"])
    room.sessions.mount(vfs, place["said_in"], _marks(place))
    items = [item_from_json(item) for item in place["items"]]
    past = past_of(room.sessions.files(request.branch, place["said_in"]))
    return TurnDesk(
        id=place["turn"],
        items=items,
        repo=room.repo,
        vfs=vfs,
        stream=room.stream,
        past=past,
        seen=Seen.from_json(place["seen"]),
    )


def _committed(request: TurnRequest, sessions: Sessions, vfs: WorkInProgressVFS, turn: Turn) -> Json:
    if request.is_build and not turn.files and vfs.base is not None and not sessions.is_beside(vfs.base):
        return asdict(Landed(vfs.base))
    who = Signature(f"Forge ({request.model})", "agent@forge.invalid", int(request.asked))
    trailers = {"Forge-Asked-By": request.author}
    return asdict(land(sessions, vfs, turn, author=who, trailers=trailers, title=request.title))


def _marks(place: Json) -> Marks:
    return Marks.from_json(place["marks"]) if "marks" in place else Marks()


def _tidy(request: TurnRequest, repo: Repository, turn: str, taken: Marks) -> None:
    forget(repo.refs, turn)
    repo.refs.held.let_go(request.mark)
    if taken:
        take(repo.common_dir, request.branch, taken)
    release(repo.common_dir, request.branch, request.mark)


def _tell(steps: Steps, branch: str, turn: Turn, landed: Landed) -> None:
    if landed.set_aside is not None:
        steps.emit(TurnSetAside(turn.id, branch, landed.set_aside, landed.commit))
    elif turn.status is TurnStatus.DONE:
        steps.emit(TurnCommitted(turn.id, branch, landed.commit, turn.files, last_words(turn)))
    else:
        steps.emit(TurnStopped(turn.id, branch, turn.status, turn.reason, landed.commit))


def last_words(turn: Turn) -> str:
    said = (item.text for item in reversed(turn.items) if isinstance(item, AssistantMessage))
    return without_subject(next((text for text in said if text.strip()), ""))


def _decision(request: TurnRequest, turn: Turn) -> DecisionRequest | None:
    is_done = request.is_build and turn.status is TurnStatus.DONE
    return decision_of(turn.items, last_words(turn)) if is_done else None


def _actor(request: TurnRequest) -> Actor:
    asked = Request(request.user, request.key, "turn", f"{request.branch}: turn-{request.mark}")
    return Actor(ActorKind.AGENT, request.model, request.mark, asked)
