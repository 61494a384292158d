"""Time travel: the conversation as it was at any commit, and the commit that each turn made."""

from __future__ import annotations

from dataclasses import dataclass

from forge.git import CommitId, GitCommitVFS, Repository
from forge.sessions.conversation import newest_first
from forge.sessions.trailers import BESIDE, TURN, trailer, turn_of
from forge.sessions.turns import Turn, TurnMissing, number_of


@dataclass(frozen=True, slots=True)
class Moment:
    """A turn, the commit that has its files, and the one that has its words; None where history was rewritten."""

    turn: Turn
    commit: CommitId | None
    said_in: CommitId | None
    """The same commit, unless conversations are kept beside the branch."""


def moments(repo: Repository, branch: str, said_in: CommitId) -> tuple[Moment, ...]:
    """The conversation of `branch` that `said_in` holds, newest turn first, with the commits that each turn made."""
    turns = tuple(newest_first(GitCommitVFS(repo.objects, said_in, branch=branch)))
    sought = {turn.id for turn in turns}
    found: dict[str, tuple[CommitId, CommitId]] = {}
    for commit in repo.log(said_in, grep=f"{TURN}: "):
        if not sought:
            break
        named = turn_of(commit.message)
        if named in sought:
            sought.remove(named)
            found[named] = (CommitId(trailer(commit.message, BESIDE) or commit.id), commit.id)
    return tuple(Moment(turn, *found.get(turn.id, (None, None))) for turn in turns)


def moment_of(repo: Repository, branch: str, said_in: CommitId, turn: str) -> Moment:
    """`turn`, by its id or its number alone, as the conversation at `said_in` remembers it."""
    number = int(turn) if turn.isdigit() else number_of(turn)
    for moment in moments(repo, branch, said_in):
        if moment.turn.number == number and (turn.isdigit() or moment.turn.id == turn) and moment.commit is not None:
            return moment
    raise TurnMissing(f"No commit of turn {turn} is in this history.", hint="`forge session show` lists the turns.")
