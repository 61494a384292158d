"""Time travel: the conversation as it was at any commit, and the commit that each turn made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from forge.git import CommitId, GitCommitVFS, Repository
from forge.sessions.conversation import newest_first, older_than
from forge.sessions.trailers import BESIDE, TURN, trailer, turn_of
from forge.sessions.turns import Turn, TurnMissing, number_of


@dataclass(frozen=True, slots=True)
class Moment:
    """A turn, the commit that has its files, and the one that has its words; None where history was rewritten."""

    turn: Turn
    commit: CommitId | None
    said_in: CommitId | None
    """The same commit, unless conversations are kept beside the branch."""


def moments(
    repo: Repository, branch: str, said_in: CommitId, *, after: str | None = None, limit: int | None = None
) -> tuple[Moment, ...]:
    """The conversation of `branch` that `said_in` holds, newest turn first, with the commits that each turn made.

    Only `limit` of them are read, those that come `after` a turn.
    """
    files = GitCommitVFS(repo.objects, said_in, branch=branch)
    turns = tuple(islice(older_than(files, after) if after else newest_first(files), limit))
    return _with_commits(repo, said_in, turns)


def first_moment(repo: Repository, branch: str, said_in: CommitId, is_meant: Callable[[Turn], bool]) -> Moment | None:
    """The newest turn of the conversation that is meant; nothing before it is read."""
    turns = newest_first(GitCommitVFS(repo.objects, said_in, branch=branch))
    found = next((turn for turn in turns if is_meant(turn)), None)
    return _with_commits(repo, said_in, (found,))[0] if found is not None else None


def moment_of(repo: Repository, branch: str, said_in: CommitId, turn: str) -> Moment:
    """`turn`, by its id or its number alone, as the conversation at `said_in` remembers it."""
    number = int(turn) if turn.isdigit() else number_of(turn)
    found = first_moment(
        repo, branch, said_in, lambda each: each.number == number and (turn.isdigit() or each.id == turn)
    )
    if found is None or found.commit is None:
        raise TurnMissing(f"No commit of turn {turn} is in this history.", hint="`forge session show` lists the turns.")
    return found


def _with_commits(repo: Repository, said_in: CommitId, turns: tuple[Turn, ...]) -> tuple[Moment, ...]:
    sought = {turn.id for turn in turns}
    found: dict[str, tuple[CommitId, CommitId]] = {}
    for commit in repo.log(said_in, grep=f"{TURN}: ") if sought else ():
        named = turn_of(commit.message)
        if named in sought:
            sought.remove(named)
            found[named] = (CommitId(trailer(commit.message, BESIDE) or commit.id), commit.id)
        if not sought:
            break
    return tuple(Moment(turn, *found.get(turn.id, (None, None))) for turn in turns)
