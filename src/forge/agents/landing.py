"""How a turn ends: one commit with its changes and its conversation, made once however often it is tried."""

from __future__ import annotations

import re
from dataclasses import dataclass

from forge.git import BranchMoved, CommitId, Signature, WorkInProgressVFS
from forge.sessions.messages import AssistantMessage
from forge.sessions.places import Sessions
from forge.sessions.timeline import TRAILER
from forge.sessions.turns import Turn, TurnStatus, write_turn

_SUBJECT = re.compile(r"^\s*[*_`#]*Commit:[*_`]*\s*(?P<subject>.+?)[*_`]*\s*$", re.IGNORECASE | re.MULTILINE)
_LONGEST_SUBJECT = 72


@dataclass(frozen=True, slots=True)
class Landed:
    commit: CommitId
    set_aside: str | None = None
    """The branch that has the work when the turn's own branch had moved from outside."""


def land(
    sessions: Sessions, vfs: WorkInProgressVFS, turn: Turn, *, author: Signature, trailers: dict[str, str]
) -> Landed:
    """Commit what is pending together with `turn`. The branch never shows a turn twice."""
    aside = f"{vfs.branch}-turn-{turn.id.rpartition('-')[2]}"
    for branch in (vfs.branch, aside):
        found = sessions.committed(vfs, branch, turn.id)
        if found is not None:
            return Landed(found, None if branch == vfs.branch else aside)
    write_turn(vfs, turn)
    trailers = {TRAILER: turn.id, **trailers}
    try:
        return Landed(sessions.commit(vfs, message(turn), author, trailers))
    except BranchMoved:
        return Landed(vfs.commit(message(turn), author, trailers, onto=aside), aside)


def changed_files(vfs: WorkInProgressVFS) -> tuple[str, ...]:
    """What the turn changed of the person's files: the conversation itself does not count."""
    return tuple(path for path in vfs.pending_changes() if not path.startswith(".forge/session"))


def message(turn: Turn) -> str:
    """The model's own subject and words; where it gave none, what the person asked for."""
    if turn.status is not TurnStatus.DONE:
        return f"chat: {_short(turn.asked)}\n\nStopped ({turn.status}): {turn.reason}".rstrip()
    said = next((i.text for i in reversed(turn.items) if isinstance(i, AssistantMessage) and i.text.strip()), "")
    found = _SUBJECT.search(said)
    body = without_subject(said)
    if not turn.files:
        return f"chat: {_short(turn.asked)}"
    subject = _short(found["subject"]) if found else f"ai: {_short(turn.asked)}"
    return f"{subject}\n\n{body}".rstrip()


def without_subject(text: str) -> str:
    """What the model said, without the line that was meant for the commit."""
    return _SUBJECT.sub("", text).strip()


def _short(text: str) -> str:
    line = " ".join(text.split())
    line = "".join(c for c in line if c.isprintable()) or "a turn"
    return line if len(line) <= _LONGEST_SUBJECT else f"{line[: _LONGEST_SUBJECT - 1]}…"
