"""Time travel: the conversation as it was at any commit, and the commit that each turn made."""

from __future__ import annotations

from dataclasses import dataclass

from forge.git import CommitId, Repository
from forge.sessions.turns import Turn, TurnMissing, newest_first, number_of

TRAILER = "Forge-Turn"
BESIDE = "Forge-Commit"
"""In a commit beside a branch: the commit on the branch that it belongs to."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A turn, the commit that has its files, and the one that has its words; None where history was rewritten."""

    turn: Turn
    commit: CommitId | None
    said_in: CommitId | None
    """The same commit, unless conversations are kept beside the branch."""


def turn_of(message: str) -> str | None:
    """The turn that a commit message names."""
    return _trailer(message, TRAILER)


def moments(repo: Repository, said_in: CommitId) -> tuple[Moment, ...]:
    """The conversation that `said_in` holds, newest turn first, with the commits that each turn made."""
    turns = tuple(newest_first(repo.commit_vfs(said_in)))
    sought = {turn.id for turn in turns}
    found: dict[str, tuple[CommitId, CommitId]] = {}
    for commit in repo.log(said_in, grep=f"{TRAILER}: "):
        if not sought:
            break
        named = turn_of(commit.message)
        if named in sought:
            sought.remove(named)
            found[named] = (CommitId(_trailer(commit.message, BESIDE) or commit.id), commit.id)
    return tuple(Moment(turn, *found.get(turn.id, (None, None))) for turn in turns)


def moment_of(repo: Repository, said_in: CommitId, turn: str) -> Moment:
    """`turn`, by its id or its number alone, as the conversation at `said_in` remembers it."""
    number = int(turn) if turn.isdigit() else number_of(turn)
    for moment in moments(repo, said_in):
        if moment.turn.number == number and (turn.isdigit() or moment.turn.id == turn) and moment.commit is not None:
            return moment
    raise TurnMissing(f"No commit of turn {turn} is in this history.", hint="`forge session show` lists the turns.")


def _trailer(message: str, name: str) -> str | None:
    start = f"{name}: "
    return next((line[len(start) :].strip() for line in message.splitlines() if line.startswith(start)), None)
