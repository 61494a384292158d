"""Versions of contracts: each commit of the project that changed one, found with one walk through the history."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from threading import Lock

from forge.contracts import history_index
from forge.contracts.history_rows import UNREADABLE, from_rows, head_from, head_row, rows
from forge.contracts.kinds import FOLDER, ORDER
from forge.contracts.versions import Blobs, Change, History, Origin, Version
from forge.git import Commit, CommitId, Repository
from forge.git.objects import commits

__all__ = ["Blobs", "Change", "History", "Origin", "Version"]

RUN, READS, DRAFT, EDITOR = "Contract-Run", "Contract-Reads", "Contract-Draft", "Contract-Editor"
"""Trailers of commits: the run that wrote it, the contracts that run fetched, whether it is a draft; who edited it."""
CONFIRMED = "Contract-Confirmed"
"""The contract that a run wrote anew with the text that it had."""

_MOST_PROJECTS = 64
_WORTH_KEEPING = 24
"""Changes that were read anew before they are written to the index."""
_NAMES = frozenset(kind.value for kind in ORDER)
_KIND_BY_FILE = {kind.file: kind for kind in ORDER}


_known: OrderedDict[Path, tuple[CommitId, History]] = OrderedDict()
_lock = Lock()


def history(repository: Repository, tip: CommitId | None) -> History:
    """Up to `tip`. What was found for an earlier tip is kept, and only the commits since then are read."""
    if tip is None:
        return History()
    place = repository.common_dir
    with _lock:
        known = _known.get(place)
    is_first = known is None
    if known is None:
        known = _indexed(repository, place)
    if known is not None and known[0] == tip:
        found = known[1]
    else:
        found = walked(repository, tip, known)
        fresh = len(found.changes) - (len(known[1].changes) if known is not None else 0)
        # Whatever this process had to read, the next one need not.
        if len(found.changes) >= _WORTH_KEEPING and (is_first or fresh >= _WORTH_KEEPING):
            history_index.write(place, tip, head_row(found.head), rows(found))
    with _lock:
        _known[place] = (tip, found)
        _known.move_to_end(place)
        while len(_known) > _MOST_PROJECTS:
            _known.popitem(last=False)
    return found


def walked(repository: Repository, tip: CommitId, known: tuple[CommitId, History] | None = None) -> History:
    """Read from the commits themselves, as far as `known` does not have them."""
    before = known[1].changes if known is not None and _follows(repository, tip, known[0]) else ()
    exclude = (known[0],) if known is not None and before else ()
    log = repository.log(tip, paths=(FOLDER,), first_parent=True, exclude=exclude)
    fresh = tuple(_change(repository, commit) for commit in log)
    changes = _really_changed((*fresh, *before))
    confirmed = tuple(each for each in fresh if each.confirmed)
    return History(changes, (*confirmed, *(known[1].confirmed if known is not None and before else ())))


def _indexed(repository: Repository, place: Path) -> tuple[CommitId, History] | None:
    """As an earlier process found it. Rows of another form are as good as none."""
    found = history_index.read(place)
    if found is None:
        return None
    tip = CommitId(found.tip)

    def rest() -> History:
        try:
            changes, confirmed = found.rows()
            return History(tuple(from_rows(changes)), tuple(from_rows(confirmed)))
        except UNREADABLE:
            return walked(repository, tip)

    try:
        return tip, History(head=head_from(found.head), rest=rest)
    except UNREADABLE:
        return None


def _follows(repository: Repository, tip: CommitId, before: CommitId) -> bool:
    """Whether `before` is a few first parents below `tip`; a history that was rewritten is read anew."""
    at = tip
    for _ in range(256):
        if at == before:
            return True
        parents = repository.objects.commit(at).parents
        if not parents or not repository.objects.has(parents[0]):
            return False
        at = parents[0]
    return False


def _change(repository: Repository, commit: Commit) -> Change:
    message = commit.message
    fetched = (commits.trailer(message, READS) or "").split(", ")
    reads = {name: id_ for name, _, id_ in (each.partition("@") for each in fetched) if id_}
    return Change(
        commit.id,
        float(commit.committer.time),
        commits.trailer(message, EDITOR) or commit.author.name,
        commit.subject,
        commits.trailer(message, RUN) or "",
        {kind: reads[kind.value] for kind in ORDER if kind.value in reads},
        commits.trailer(message, DRAFT) is not None,
        _blobs(repository, commit),
        confirmed if (confirmed := commits.trailer(message, CONFIRMED) or "") in _NAMES else "",
    )


def _blobs(repository: Repository, commit: Commit) -> Blobs:
    folder = repository.objects.entry(commit.tree, FOLDER)
    if folder is None or not folder.is_tree:
        return {}
    files = repository.objects.tree(folder.id)
    return {kind: entry.id for file, kind in _KIND_BY_FILE.items() if (entry := files.get(file)) and not entry.is_tree}


def _really_changed(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """Without those that changed another file of the folder, such as answers."""
    kept: list[Change] = []
    before: Blobs = {}
    for each in reversed(changes):
        if each.blobs != before:
            kept.append(each)
            before = each.blobs
    return tuple(reversed(kept))
