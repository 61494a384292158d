"""A branch for those who must not see its conversations: the same work without sessions, as a branch of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from forge.errors import Conflict
from forge.git import PERSON, CommitId, Repository
from forge.git.history.export import without_sessions


class NothingToExport(Conflict):
    code = "nothing_to_export"


@dataclass(frozen=True, slots=True)
class Export:
    branch: str
    commit: CommitId
    rewritten: int
    left_out: int


def export_without_sessions(repo: Repository, branch: str, name: str) -> Export:
    """Make branch `name` of the history of `branch` without `.forge/session*`. `branch` itself stays as it is."""
    history = list(repo.log(branch, order="topo"))
    found = without_sessions(repo.objects, reversed(history))
    if found.tip is None:
        raise NothingToExport(f"{branch} holds nothing but conversation.", hint="There is nothing to export.")
    repo.refs.land(name, found.tip, found.new, before=None, actor=PERSON, reason=f"export {branch} without sessions")
    return Export(name, found.tip, found.commits, found.left_out)


def bundle(repo: Repository, branch: str, path: Path) -> None:
    """Write `branch` into a file that `git clone` and `git fetch` read."""
    repo.objects.git.run("bundle", "create", str(path.absolute()), f"refs/heads/{branch}")
