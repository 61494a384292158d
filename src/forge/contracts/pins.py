"""Sets of contracts that are held for builds: one ref for each, so that no later edit and no gc reaches them."""

from __future__ import annotations

from pathlib import Path

from forge.contracts.contract_set import ContractSet
from forge.contracts.errors import BatchMissing, ContractMissing
from forge.contracts.history import History, history, walked
from forge.contracts.kinds import FOLDER
from forge.git import PERSON, CommitId, RefMove
from forge.git.errors import BranchMoved
from forge.projects.project import Project

REFS = "refs/forge/contracts/"
_ATTEMPTS = 20
_MOST_KNOWN = 64


def current(project: Project) -> ContractSet:
    """The contracts as they are now. Edits by hand in the directory are committed first."""
    records = project.records
    records.take_in()
    return ContractSet(records.repository, project.id, history(records.repository, records.tip()))


def pin(project: Project) -> ContractSet:
    """Hold the contracts as they are now. A commit that is held already keeps its number."""
    found = current(project)
    if found.commit is None or not found.kinds():
        raise ContractMissing("The project has no contracts.", hint=f"Write them into {FOLDER}/, or generate them.")
    for _ in range(_ATTEMPTS):
        held = batches(project)
        known = next((number for number, commit in held.items() if commit == found.commit), None)
        if known is not None:
            return pinned(project, known)
        number = max(held, default=0) + 1
        move = RefMove(f"{REFS}{number}", None, found.commit)
        try:
            project.records.repository.refs.move([move], actor=PERSON, reason=f"pin contracts {number}", forward=True)
        except BranchMoved:  # another process took this number
            continue
        return pinned(project, number)
    raise BatchMissing("The contracts could not be pinned.", hint="Try again.")


def batches(project: Project) -> dict[int, CommitId]:
    """Commits by their number, in order."""
    found = project.records.repository.refs.under(REFS)
    numbered = {int(name): at for ref, at in found if (name := ref.removeprefix(REFS)).isascii() and name.isdigit()}
    return dict(sorted(numbered.items()))


def pinned(project: Project, batch: int) -> ContractSet:
    commit = batches(project).get(batch)
    if commit is None:
        raise BatchMissing(f"No contracts were pinned as number {batch}.", hint="A build pins them when it starts.")
    repository = project.records.repository
    return ContractSet(
        repository,
        project.id,
        _history_at(project, commit),
        batch=batch,
        pinned_at=_pinned_at(project, batch, commit),
    )


def _history_at(project: Project, commit: CommitId) -> History:
    """Of a commit that never changes; several builds read the same one."""
    repository = project.records.repository
    key = (repository.common_dir, commit)
    known = _known.get(key)
    if known is None:
        # Most often it is the newest one, or one that the history of today has read already.
        today = history(repository, project.records.tip())
        known = _known[key] = today.until(commit) or walked(repository, commit)
        while len(_known) > _MOST_KNOWN:
            _known.pop(next(iter(_known)), None)
    return known


_known: dict[tuple[Path, CommitId], History] = {}


def _pinned_at(project: Project, batch: int, commit: CommitId) -> float:
    """When the ref was made; in a copy without an operation log, when the contracts were committed."""
    repository = project.records.repository
    ref = f"{REFS}{batch}"
    for operation in repository.operations():
        if any(move.ref == ref and move.after == commit for move in operation.moves):
            return operation.time
    return float(repository.objects.commit(commit).committer.time)
