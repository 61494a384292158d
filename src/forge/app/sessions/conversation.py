"""The conversation of a branch: as it is, as it was at any commit, forked and rewound to a turn."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from forge.app.sessions import context
from forge.errors import NotFound, Upstream
from forge.git import PERSON, Actor, Branch, CommitId, Operation, Repository
from forge.git.refs.reservations import Reservation, reservation
from forge.json_value import Json
from forge.sessions.conversation import brought_by_merges, read_head
from forge.sessions.head import ActiveFile, Head
from forge.sessions.layout import SessionUnreadable
from forge.sessions.messages import AssistantMessage, ContextMessage, ToolResult, Usage, UserMessage
from forge.sessions.places import Sessions
from forge.sessions.timeline import Moment, first_moment, moment_of, moments
from forge.sessions.turns import Reference, Turn, TurnMissing, item_json
from forge.settings import Settings
from forge.subjects import branch_subject

__all__ = [
    "AssistantMessage",
    "ContextMessage",
    "Moment",
    "Reference",
    "Reservation",
    "Sessions",
    "Settings",
    "ToolResult",
    "Turn",
    "TurnMissing",
    "UserMessage",
    "item_json",
]


@dataclass(frozen=True, slots=True)
class Working:
    turn: str
    who: str
    since: float
    waits_for: str = ""
    """Why nobody continues with it, where its process died: what this server lacks."""


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
class Conversation:
    """At one commit. `working` is the turn that is under way on the branch, if it is one's tip."""

    head: Head
    moments: tuple[Moment, ...]
    """Newest turn first."""
    merged: tuple[str, ...]
    working: Reservation | None


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
class BranchWithTalk:
    branch: Branch
    head: Head
    working: Reservation | None


def working_of(held: Reservation | None, waits_for: str = "") -> Working | None:
    """As every face shows it."""
    return None if held is None else Working(held.holder, held.who, held.since, waits_for)


def view_of(repo_id: str, branch: str, found: Conversation, *, waits_for: str = "") -> SessionView:
    """As every face shows it."""
    head = found.head
    return SessionView(
        branch=branch,
        turns=head.turns,
        messages=head.messages,
        usage=head.usage,
        active_files=head.active_files,
        merged_turns=found.merged,
        working=working_of(found.working, waits_for),
        topic=branch_subject(repo_id, branch).topic,
    )


def turn_entry(moment: Moment, *, whole: bool = False) -> TurnEntry:
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
        answered=answer_of(each),
        files=each.files,
        usage=each.usage,
        messages=tuple(item_json(item) for item in each.items) if whole else None,
    )


def answer_of(each: Turn) -> str:
    said = (item.text for item in reversed(each.items) if isinstance(item, AssistantMessage))
    return next((text for text in said if text.strip()), "")


def sessions_of(repo: Repository, settings: Settings) -> Sessions:
    return Sessions(repo, beside=settings.sessions == "side-ref")


def conversation(sessions: Sessions, branch: str, at: str | None = None, *, limit: int | None = None) -> Conversation:
    """The conversation on `branch`, as it is or as it was at a commit; of its turns only the newest, if limited."""
    repo = sessions.repo
    said_in = sessions.at_commit(branch, repo.resolve(at)) if at else sessions.at(branch)
    working = None if at else reservation(repo.common_dir, branch)
    head = read_head(sessions.files(branch, said_in)) if at else sessions.head(branch)
    shown = repo.commit_vfs(at) if at else repo.workspace(branch)
    head = replace(head, active_files=context.in_context(shown, head))
    if said_in is None:
        return Conversation(head, (), (), working)
    brought = brought_by_merges(sessions.files(branch, said_in))
    return Conversation(head, moments(repo, branch, said_in, limit=limit), brought, working)


def some_moments(
    sessions: Sessions, branch: str, *, at: str | None = None, after: str | None = None, limit: int | None = None
) -> tuple[Moment, ...]:
    """Newest first. Reads only what it gives, however long the conversation is."""
    repo = sessions.repo
    said_in = sessions.at_commit(branch, repo.resolve(at)) if at else sessions.at(branch)
    return moments(repo, branch, said_in, after=after, limit=limit) if said_in is not None else ()


def moment_named(sessions: Sessions, branch: str, which: str) -> Moment | None:
    """By the number of the turn, its id or the end of that."""
    said_in = sessions.at(branch)
    if said_in is None:
        return None
    return first_moment(
        sessions.repo, branch, said_in, lambda turn: which in (turn.id, str(turn.number), turn.id.partition("-")[2])
    )


def branches_with_talk(sessions: Sessions) -> tuple[BranchWithTalk, ...]:
    """Branches on which somebody has talked with an agent, or does right now."""
    found = (_talk_on(sessions, each) for each in sessions.repo.branches())
    return tuple(each for each in found if each.head.turns or each.working)


def _talk_on(sessions: Sessions, branch: Branch) -> BranchWithTalk:
    working = reservation(sessions.repo.common_dir, branch.name)
    head = Head()
    # Deleted meanwhile, or damaged: whoever opens it is told, and whoever asks for all gets the others.
    with suppress(NotFound, Upstream, SessionUnreadable):
        head = sessions.head(branch.name)
        if head.turns or working:
            head = replace(head, active_files=context.in_context(sessions.repo.commit_vfs(branch.name), head))
    return BranchWithTalk(branch, head, working)


def fork_at(sessions: Sessions, branch: str, turn: str, name: str, *, actor: Actor = PERSON) -> CommitId:
    """A new branch as `branch` was right after `turn`: files and conversation."""
    moment = _moment(sessions, branch, turn)
    by = actor.doing("session.fork", f"{branch} at {turn} as {name}")
    commit = sessions.repo.create_branch(name, str(moment.commit), actor=by)
    sessions.fork(branch, name, moment.said_in)
    return commit


def rewind_to(sessions: Sessions, branch: str, turn: str, *, actor: Actor = PERSON) -> Operation:
    """Set `branch` back to right after `turn`; the old tip is kept and can be undone to."""
    moment = _moment(sessions, branch, turn)
    by = actor.doing("session.rewind", f"{branch} to {turn}")
    return sessions.repo.rewind_branch(branch, str(moment.commit), said=moment.said_in, actor=by)


def _moment(sessions: Sessions, branch: str, turn: str) -> Moment:
    said_in = sessions.at(branch)
    if said_in is None:
        raise TurnMissing(f"There is no conversation on {branch}.", hint="`forge session list` shows where there is.")
    return moment_of(sessions.repo, branch, said_in, turn)
