"""The ref beside a branch that holds its conversation, where a team does not want that in the branch's history.

It is made, moved and dropped with its branch, in the same operation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING

from forge.git.errors import InvalidName
from forge.git.objects import commits
from forge.git.refs.branch_names import branch_ref
from forge.git.refs.operations.operation import RefMove
from forge.git.refs.ref_files import BESIDE, KEPT_BESIDE
from forge.git.values import CommitId
from forge.git.workspace import paths

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.refs.ref_store import Refs

__all__ = ["BESIDE"]

CONTEXT = "Forge-Context"
"""In the message of a save that took marks in the context along, on its branch and beside it."""
_NOTE = b"\tconversation "
_SET_BACK = (b"\treset: ", b"\tbranch: Reset to ", b"\tforge: rewind ", b"\tforge: undo: ")
"""Moves in a reflog that take turns back."""
_LINE = 200
"""So many commits of a branch are looked through for the turns that were made on it."""
_CONTAINED = 10
"""So many turns are looked for behind the other parents of merges."""
_MOVES = 50
"""So many moves of a branch are followed back."""


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
    if tip is None:
        return None
    if said is None or not _is_noted(objects, branch, said):
        return _forked(objects, refs, branch, tip)
    order = {each: place for place, each in enumerate(_line(objects, said))}
    newest: CommitId | None = None
    for each in (tip, *_tips_before(objects, branch, tip)):
        found = (newest, _said_at(objects, said, each), _noted_at(objects, branch, said, each))
        newest = min((at for at in found if at), key=lambda at: order.get(at, _LINE), default=None)
        if newest is None and (before := _said_before(objects, branch, said, each)):
            return before
        if newest == said:
            break
    return newest or _contained(objects, said, tip)


def _forked(objects: Objects, refs: Refs, branch: str, tip: CommitId) -> CommitId | None:
    """What was said elsewhere on the commits of a fork by plain git, also before it was rebased."""
    line = set(_line(objects, tip))
    tips = (tip, *(each for each in _tips_before(objects, branch, tip) if each not in line))
    return next((said for each in tips if (said := beside_at(objects, refs, each))), None)


def _said_at(objects: Objects, said: CommitId, tip: CommitId) -> CommitId | None:
    """The newest behind `said` whose turn is on the line of `tip`."""
    line = dict.fromkeys(_line(objects, tip))
    turns = {_said_by(objects, each) for each in line} - {None}
    later: list[CommitId] = []
    for each in _line(objects, said):
        if _commit_of(objects, each) in line or _said_by(objects, each) in turns:
            return _with_mere_talk(objects, each, later)
        later.append(each)
    return said if len(line) == _LINE else None


def _tips_before(objects: Objects, branch: str, tip: CommitId) -> Iterator[CommitId]:
    """Where the branch was before git moved it on to `tip`, the latest first: no turn was taken away since.

    A rebase leaves out the commits of turns that the new base has already, such as by a squash.
    """
    moves = [line for line in _reflog(objects, branch)[::-1] if not any(mark in line for mark in (_NOTE, *_SET_BACK))]
    for move in moves[:_MOVES]:
        before, after = (CommitId(each.decode()) for each in move.split(b" ", 2)[:2])
        if after != tip:
            continue
        if not before.strip("0") or not objects.has(before) or _is_in_place(objects, move, before):
            return
        tip = before
        yield tip


def _is_in_place(objects: Objects, move: bytes, before: CommitId) -> bool:
    """Whether a rebase stayed where the branch was: what is not there any more was dropped by the person."""
    _, finished, rest = move.partition(b" (finish): ")
    onto = CommitId(rest.rpartition(b" onto ")[2].decode("ascii", "replace"))
    return bool(finished) and onto in set(_line(objects, before))


def _noted_at(objects: Objects, branch: str, said: CommitId, tip: CommitId) -> CommitId | None:
    """What the reflog notes for `tip`: a rename or an undo makes the branch anew, where a rebase had put it."""
    notes = [line for line in _reflog(objects, branch) if _NOTE in line and line.split(b" ", 2)[1] == tip.encode()]
    for each in _line(objects, said) if notes else ():
        if any(line.endswith(_NOTE + each.encode()) for line in notes) and not _is_next(objects, each, tip):
            return each
    return None


def _said_before(objects: Objects, branch: str, said: CommitId, tip: CommitId) -> CommitId | None:
    """In a conversation that the branch had before it was set back and another one began; now it is at `tip` again."""
    seen = set(_line(objects, said))
    for noted in _notes(objects, branch)[::-1]:
        if noted in seen or not objects.has(noted):
            continue
        if found := _said_at(objects, noted, tip):
            return found
        seen.update(_line(objects, noted))
    return None


def _is_next(objects: Objects, said: CommitId, tip: CommitId) -> bool:
    """Whether its turn changed files right after `tip`: such a turn is noted before its commit is made."""
    at = _commit_of(objects, said)
    return at is not None and objects.has(CommitId(at)) and tip in objects.commit(CommitId(at)).parents


def _contained(objects: Objects, said: CommitId, tip: CommitId) -> CommitId | None:
    """The newest whose commit is anywhere behind `tip`: a rebase moved the branch onto the merge that has it."""
    for each in islice(_line(objects, said), _CONTAINED):
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
    notes = _notes(objects, branch)
    return notes[-1] if notes and any(said == notes[-1] for _, said in refs.under(BESIDE)) else None


def _notes(objects: Objects, branch: str) -> list[CommitId]:
    lines = (line.rpartition(_NOTE) for line in _reflog(objects, branch))
    return [CommitId(said.decode("ascii", "replace")) for _, note, said in lines if note]


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


def inherited(objects: Objects, refs: Refs, name: str) -> list[RefMove]:
    """Before the ref beside `name` goes or is set back: forks by plain git that read it get refs of their own."""
    lost = _said(refs, name)
    if lost is None:
        return []
    there, protected = set(_line(objects, lost)), refs.protected_names()
    found: list[RefMove] = []
    for branch, tip in refs.branches():
        if branch == name or paths.folded(branch) in protected or not paths.is_visible(branch) or _said(refs, branch):
            continue
        said = said_on(objects, refs, branch, tip)
        if said in there:
            found.append(RefMove(BESIDE + branch, None, said))
    return found


def settled(objects: Objects, refs: Refs, name: str, *, noted: bool = True) -> list[RefMove]:
    """Before Forge moves a branch that git made, renamed, forked or set back: the ref beside it says what it says.

    Only the branch's reflog may tell, and that goes with the branch. Not `noted`: a ref that is the branch's own stays.
    """
    tip, was = refs.tip(name), _said(refs, name)
    if tip is None or not paths.is_visible(name) or refs.protected(name):
        return []
    if was is not None and not noted and _is_noted(objects, name, was):
        return []
    moves = _moved(name, was, said_on(objects, refs, name, tip))
    if was is not None and moves and refs.target((kept := kept_as(name, was)).ref) is None:
        moves.insert(0, kept)
    renamed = _renamed(objects, refs, name) if was is None else None
    if renamed is not None:
        moves += [RefMove(ref, at, None) for ref, at in refs.under(BESIDE) if at == renamed][:1]
    return [*inherited(objects, refs, name), *moves] if moves else []


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
    said = said or beside_at(objects, refs, to, [name]) or said_on(objects, refs, name, to)
    return _moved(name, was, said)


def _said(refs: Refs, name: str) -> CommitId | None:
    """Of a branch whose name is no Unicode, nothing is kept."""
    return refs.target(BESIDE + name) if paths.is_visible(name) else None


def kept_as(name: str, said: CommitId) -> RefMove:
    """What no branch says any more stays reachable, for an undo and for a branch that is set to it again."""
    return RefMove(f"{KEPT_BESIDE}{name}@{said[:12]}", None, said)


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
