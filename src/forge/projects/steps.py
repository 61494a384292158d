"""Steps of durable work that are in the history already, by the trailer of their commits."""

from __future__ import annotations

from forge.git import Commit, CommitId
from forge.git.objects.object_store import Objects

TRAILER = "Forge-Step"


class CommittedSteps:
    """Follows the branch: each commit is read once, and again only if the history was changed by hand."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._tip: CommitId | None = None
        self._known: dict[str, CommitId] = {}

    def commit_of(self, step: str, tip: CommitId | None) -> CommitId | None:
        if tip != self._tip:
            self._follow(tip)
        return self._known.get(step)

    def _follow(self, tip: CommitId | None) -> None:
        found: dict[str, CommitId] = {}
        waiting, met = [tip] if tip else [], set[CommitId]()
        while waiting:
            commit_id = waiting.pop()
            if commit_id in met:
                continue
            met.add(commit_id)
            if commit_id != self._tip:
                commit = self._objects.commit(commit_id)
                found |= dict.fromkeys(_steps(commit), commit.id)
                waiting += commit.parents
        self._known = {**self._known, **found} if self._tip in met else found
        self._tip = tip


def _steps(commit: Commit) -> list[str]:
    prefix = f"{TRAILER}: "
    last = commit.message.rstrip("\n").rpartition("\n\n")[2]
    return [line.removeprefix(prefix) for line in last.splitlines() if line.startswith(prefix)]
