"""The ref beside a branch that holds its conversation, where a team does not want that in the branch's history.

It is made, moved and dropped with its branch, in the same operation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from forge.git.errors import InvalidName
from forge.git.objects import commits
from forge.git.refs.branch_names import branch_ref
from forge.git.refs.operations.operation import RefMove
from forge.git.refs.ref_files import BESIDE
from forge.git.values import CommitId
from forge.git.workspace import paths

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.refs.ref_store import Refs

__all__ = ["BESIDE"]

CONTEXT = "Forge-Context"
"""In the message of a save that took marks in the context along, on its branch and beside it."""
_NOTE = b"\tconversation "
_LINE = 200
_CONTAINED = 10
"""So many turns are looked for behind the other parents of merges."""
"""So many commits of a branch are looked through for the turns that were made on it."""


def beside_at(
    objects: Objects, refs: Refs, tip: CommitId | None, names: Sequence[str] | None = None
) -> CommitId | None:
    """What was said up to `tip`, in the refs beside `names` or beside any branch."""
    if tip is None:
        return None
    turns = {turn: place for place, each in enumerate(_line(objects, tip)) if (turn := _said_by(objects, each))}
    if not turns:
        return None
    found: list[tuple[int, CommitId]] = []
    for _, said in refs.under(BESIDE) if names is None else [(n, t) for n in names if (t := _said(refs, n))]:
        for each in _line(objects, said):
            if (turn := _said_by(objects, each)) in turns:
                found.append((turns[str(turn)], each))
                break
    return min(found)[1] if found else None


def said_on(objects: Objects, refs: Refs, branch: str, tip: CommitId | None) -> CommitId | None:
    """The commit with the conversation of `branch` at `tip`, whatever git did to the branch since it was written."""
    said = _said(refs, branch) or _renamed(objects, refs, branch)
    if said is None or tip is None:
        return beside_at(objects, refs, tip) if said is None else None
    if not _is_noted(objects, branch, said):
        return beside_at(objects, refs, tip)
    line = list(_line(objects, tip))
    turns = {_said_by(objects, each) for each in line} - {None}
    later: list[CommitId] = []
    for each in _line(objects, said):
        if _commit_of(objects, each) in line or _said_by(objects, each) in turns:
            return _with_mere_talk(objects, each, later)
        later.append(each)
    return said if len(line) == _LINE else _contained(objects, later, tip)


def _contained(objects: Objects, beside: list[CommitId], tip: CommitId) -> CommitId | None:
    """The newest whose commit is anywhere behind `tip`: a rebase moved the branch onto the merge that has it."""
    for each in beside[:_CONTAINED]:
        at = _commit_of(objects, each)
        if at and objects.has(CommitId(at)):
            known = objects.git.run("merge-base", "--is-ancestor", at, tip, ok=(0, 1))
            if known.returncode == 0:
                return each
    return None


def _with_mere_talk(objects: Objects, said: CommitId, later: list[CommitId]) -> CommitId:
    """Also the turns after it that changed no file: a rebase or an amend gave the commit that they name another id."""
    for each in reversed(later):
        if _commit_of(objects, each) != _commit_of(objects, said):
            break
        said = each
    return said


def place_of(objects: Objects) -> str:
    """Names this repository on this machine: only here do reflogs tell of what was said here."""
    return sha256(str(objects.common_dir.resolve()).encode("utf-8", "surrogateescape")).hexdigest()[:12]


def _is_noted(objects: Objects, branch: str, said: CommitId) -> bool:
    """Whether the ref belongs to this branch, and not to one of the same name that git deleted.

    Refs are moved together with a note in the branch's reflog, which goes when git deletes the branch. Where the
    reflog cannot tell, because there is none or its beginning has expired, the ref is believed.
    """
    if commits.trailer(objects.commit(said).message, "Forge-Place") != place_of(objects):
        return True
    lines = _reflog(objects, branch)
    is_whole = bool(lines) and not lines[0].split(b" ", 1)[0].strip(b"0")
    return not is_whole or any(line.endswith(_NOTE + said.encode()) for line in lines)


def _renamed(objects: Objects, refs: Refs, branch: str) -> CommitId | None:
    """What was said on a branch that git renamed: its reflog came along, the ref beside it has the old name."""
    notes = [line.rpartition(_NOTE)[2] for line in _reflog(objects, branch) if _NOTE in line]
    kept = {str(said).encode() for _, said in refs.under(BESIDE)} if notes else set()
    return CommitId(notes[-1].decode()) if notes and notes[-1] in kept else None


def _reflog(objects: Objects, branch: str) -> list[bytes]:
    """Its lines, oldest first; none where the repository keeps no reflogs."""
    try:
        return (objects.common_dir / "logs" / branch_ref(branch)).read_bytes().splitlines()
    except (OSError, InvalidName):  # a branch of plain git may have a name that Forge cannot write, and no conversation
        return []


def made_with(objects: Objects, refs: Refs, name: str, start: CommitId, source: str | None) -> list[RefMove]:
    """A new branch has what was said on `source`, or up to the commit that it starts at; never what an old one left."""
    said = said_on(objects, refs, source, start) if source else beside_at(objects, refs, start)
    return _moved(name, _said(refs, name), said)


def adopted(objects: Objects, refs: Refs, name: str) -> list[RefMove]:
    """Before Forge renames, rewinds or deletes a branch that git renamed: its conversation takes the new name.

    Only the branch's reflog leads from one to the other, and that goes with the branch.
    """
    if _said(refs, name) is not None or (said := _renamed(objects, refs, name)) is None:
        return []
    old = next(ref for ref, at in refs.under(BESIDE) if at == said)
    return [RefMove(BESIDE + name, None, said), RefMove(old, said, None)]


def renamed_with(refs: Refs, old: str, new: str) -> list[RefMove]:
    said = _said(refs, old)
    moves = [*_moved(new, _said(refs, new), said), *_moved(old, said, None)]
    return moves[::-1] if new.startswith(f"{old}/") or old.startswith(f"{new}/") else moves


def dropped_with(refs: Refs, name: str) -> list[RefMove]:
    return _moved(name, _said(refs, name), None)


def rewound_with(objects: Objects, refs: Refs, name: str, to: CommitId, said: CommitId | None) -> list[RefMove]:
    """`said` where it is known which turn the branch goes back to; several may have left no commit on it."""
    was = _said(refs, name)
    if was is None:
        return []
    return _moved(name, was, said or beside_at(objects, refs, to, [name]))


def _said(refs: Refs, name: str) -> CommitId | None:
    """Of a branch whose name is no Unicode, nothing is kept."""
    return refs.target(BESIDE + name) if paths.is_visible(name) else None


def _moved(name: str, before: CommitId | None, after: CommitId | None) -> list[RefMove]:
    return [RefMove(BESIDE + name, before, after)] if before != after else []


def _line(objects: Objects, tip: CommitId) -> Iterator[CommitId]:
    for _ in range(_LINE):
        yield tip
        parents = objects.commit(tip).parents
        if not parents or not objects.has(parents[0]):
            return
        tip = parents[0]


def _commit_of(objects: Objects, said: CommitId) -> str | None:
    """The commit on the branch at which something was said."""
    return commits.trailer(objects.commit(said).message, "Forge-Commit")


def _said_by(objects: Objects, commit: CommitId) -> str | None:
    """What a commit on a branch and its counterpart beside it have in common: a turn, or marks that a save took."""
    message = objects.commit(commit).message
    return commits.trailer(message, "Forge-Turn") or commits.trailer(message, CONTEXT)
