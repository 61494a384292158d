"""How a turn ends: one commit with its changes and its conversation, made once however often it is tried."""

from __future__ import annotations

import re
from dataclasses import dataclass

from forge.git import BranchMoved, CommitId, Signature, WorkInProgressVFS
from forge.git.errors import CheckoutInTheWay, IndexLocked, RevisionMissing
from forge.git.workspace.forge_records import is_record
from forge.sessions.conversation import write_turn
from forge.sessions.messages import AssistantMessage
from forge.sessions.places import Sessions
from forge.sessions.trailers import TURN, turn_of
from forge.sessions.turns import Turn, TurnStatus

_SUBJECT = re.compile(r"^\s*[*_`#]*Commit:[*_`]*\s*(?P<subject>.+?)[*_`]*\s*$", re.IGNORECASE | re.MULTILINE)
_LONGEST_SUBJECT = 72
_WITHOUT_PAST = """

The commit that this turn began with has been removed from the repository.
This branch has what the turn wrote, and nothing else.
"""


@dataclass(frozen=True, slots=True)
class Landed:
    commit: CommitId
    set_aside: str | None = None
    """The branch that has the work when the turn's own branch had moved from outside, or a checkout of it could not
    be brought along."""


def land(
    sessions: Sessions,
    vfs: WorkInProgressVFS,
    turn: Turn,
    *,
    author: Signature,
    trailers: dict[str, str],
    title: str = "",
) -> Landed:
    """Commit what is pending together with `turn`. The branch never shows a turn twice.

    Where the commit that the turn began with is gone for good, its words and files go to a branch without a past.
    """
    aside = f"{vfs.branch}-turn-{turn.id.rpartition('-')[2]}"
    text = message(turn, title)
    try:
        return _landed(sessions, vfs, turn, aside, text, author=author, trailers=trailers)
    except RevisionMissing:
        if vfs.base is None:
            raise
        return Landed(_salvaged(sessions, vfs, turn, aside, text, author=author, trailers=trailers), aside)


def _landed(
    sessions: Sessions,
    vfs: WorkInProgressVFS,
    turn: Turn,
    aside: str,
    text: str,
    *,
    author: Signature,
    trailers: dict[str, str],
) -> Landed:
    for branch in (vfs.branch, aside):
        found = sessions.committed(vfs, branch, turn.id)
        if found is not None:
            return Landed(found, None if branch == vfs.branch else aside)
    write_turn(vfs, turn)
    trailers = {TURN: turn.id, **trailers}
    try:
        return Landed(sessions.commit(vfs, text, author, trailers))
    except (BranchMoved, IndexLocked, CheckoutInTheWay):
        return Landed(vfs.commit(text, author, trailers, onto=aside), aside)


def _salvaged(
    sessions: Sessions,
    vfs: WorkInProgressVFS,
    turn: Turn,
    aside: str,
    text: str,
    *,
    author: Signature,
    trailers: dict[str, str],
) -> CommitId:
    repo = sessions.repo
    there = repo.refs.tip(aside)
    if there is not None and turn_of(repo.commit(there).message) == turn.id:
        return there
    alone = WorkInProgressVFS(repo.objects, repo.refs, aside, repo.signature, actor=vfs.actor, base=None)
    for path, state in vfs.pending.items():
        if state is None or state.data is None:
            continue
        if is_record(path):
            alone.write_record(path, state.data)
        else:
            alone.write_bytes(path, state.data, mode=state.mode)
    write_turn(alone, turn)
    return alone.commit(text + _WITHOUT_PAST, author, {TURN: turn.id, **trailers})


def changed_files(vfs: WorkInProgressVFS) -> tuple[str, ...]:
    """What the turn changed of the person's files: the conversation itself does not count."""
    return tuple(path for path in vfs.pending_changes() if not path.startswith(".forge/session"))


def message(turn: Turn, title: str = "") -> str:
    """The model's own subject and words; where it gave none, `title`, else what the person asked for."""
    if turn.status is not TurnStatus.DONE:
        return f"chat: {_short(title or turn.asked)}\n\nStopped ({turn.status}): {turn.reason}".rstrip()
    said = next((i.text for i in reversed(turn.items) if isinstance(i, AssistantMessage) and i.text.strip()), "")
    found = _SUBJECT.search(said)
    body = without_subject(said)
    if not turn.files:
        return f"chat: {_short(title or turn.asked)}"
    subject = _short(found["subject"]) if found else _short(title) if title else f"ai: {_short(turn.asked)}"
    return f"{subject}\n\n{body}".rstrip()


def without_subject(text: str) -> str:
    """What the model said, without the line that was meant for the commit."""
    return _SUBJECT.sub("", text).strip()


def _short(text: str) -> str:
    line = " ".join(text.split())
    line = "".join(c for c in line if c.isprintable()) or "a turn"
    return line if len(line) <= _LONGEST_SUBJECT else f"{line[: _LONGEST_SUBJECT - 1]}…"
