"""The conversation of a branch or a commit: where it stands, read backwards, and one turn longer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from forge.git import VFS, WorkInProgressVFS
from forge.sessions.head import Head, draft_of, drop_draft, first_format
from forge.sessions.layout import EARLIER, FOLDER, HEAD_PATH, POINTER, TurnRef, lane_of, number_of, ref_at
from forge.sessions.lineage import last_turn
from forge.sessions.saved_marks import sums_after, with_saved
from forge.sessions.turn_files import TurnFiles
from forge.sessions.turns import Reference, Turn, TurnMissing, head_from_bytes, turn_bytes, turn_from_bytes


def read_head(vfs: VFS) -> Head:
    """Where the conversation stands; an empty head where none has begun."""
    draft = draft_of(vfs)
    return draft if draft is not None else with_saved(vfs, _head(vfs))


def _head(vfs: VFS) -> Head:
    """As the last turn left it."""
    old = first_format(vfs.read_bytes(HEAD_PATH)) if vfs.file_exists(HEAD_PATH) else None
    last = _last_turn(vfs)
    if last is None:
        return Head(active_files=old.active_files) if old is not None else Head()
    if old is not None and old.ref == last:
        return old
    head = head_from_bytes(_bytes(vfs, last), last.path)
    return head if last.lane is not None else _summed(vfs, head, old)


def _summed(vfs: VFS, head: Head, old: Head | None) -> Head:
    """A turn of the first format knows only its own part, and `session.json` may be that of a merged branch."""
    known = sums_after(vfs, head.ref) if head.ref is not None else None
    if known is not None:
        return replace(head, messages=known.messages, usage=known.usage)
    before = list(newest_first(vfs, head))[1:]
    return replace(
        head,
        messages=head.messages + sum(not isinstance(item, Reference) for turn in before for item in turn.items),
        usage=sum((turn.usage for turn in before), start=head.usage),
        active_files=old.active_files if old is not None else (),
    )


def write_turn(vfs: WorkInProgressVFS, turn: Turn) -> Turn:
    """Put `turn` into the branch, as the newest of its conversation. Nothing of earlier turns is written again."""
    head = read_head(vfs)
    drop_draft(vfs)
    made = replace(turn, branch=vfs.branch, parent_lane=head.lane if turn.parent == head.last else None)
    said = sum(not isinstance(item, Reference) for item in turn.items)
    earlier = head.earlier
    if head.last is not None and head.lane is None:  # a turn of the first format names only the one before it
        earlier = tuple(each.ref for each in islice(newest_first(vfs, head), 1, EARLIER + 1))
    after = replace(
        head, turns=turn.number, messages=head.messages + said, usage=head.usage + turn.usage, earlier=earlier
    )
    vfs.write_record(made.ref.path, turn_bytes(made, after))
    vfs.write_record(HEAD_PATH, POINTER)
    return made


def read_turn(vfs: VFS, turn: str) -> Turn:
    """A turn by its id, whichever conversation it belongs to."""
    number_of(turn)
    found = next((ref for ref in _refs(vfs) if ref.id == turn), None)
    if found is None:
        raise _missing(turn)
    return turn_from_bytes(_bytes(vfs, found), found.path)


def newest_first(vfs: VFS, head: Head | None = None) -> Iterator[Turn]:
    """The conversation backwards, along what each turn names as the one before it."""
    files = TurnFiles(vfs.objects, vfs.base)
    at = (head or read_head(vfs)).ref
    data = _bytes(vfs, at, files) if at is not None else b""
    while at is not None:
        turn = turn_from_bytes(data, at.path)
        yield turn
        at = turn.before
        found = _found(vfs, at) if at is not None else None
        if at is not None and found is None and files.blob(turn.ref) is not None:
            at = files.previous(turn.ref)
        if at is not None:
            data = found or _bytes(vfs, at, files)


def older_than(vfs: VFS, turn: str) -> Iterator[Turn]:
    """The conversation backwards from the turn before `turn`."""
    found = next((ref for ref in _refs(vfs) if ref.id == turn), None)
    if found is None:  # a merge took it out of the tree, or it is none of this conversation
        found = next((each.ref for each in newest_first(vfs) if each.id == turn), None)
    if found is None:
        raise _missing(turn)
    return islice(newest_first(vfs, Head(last=found.id, lane=found.lane)), 1, None)


def conversation(vfs: VFS) -> tuple[Turn, ...]:
    return tuple(reversed(tuple(newest_first(vfs))))


def current_stretch(vfs: VFS) -> tuple[Turn, ...]:
    """The turns since the prompt stream last began anew, oldest first."""
    turns: list[Turn] = []
    for turn in newest_first(vfs):
        turns.append(turn)
        if turn.opens:
            break
    return tuple(reversed(turns))


def brought_by_merges(vfs: VFS) -> tuple[str, ...]:
    """Ids of turns that are in the branch but belong to conversations that were merged into it."""
    last = read_head(vfs).ref
    own = TurnFiles(vfs.objects, vfs.base).conversation_of(last) if last is not None else frozenset()
    return tuple(sorted(ref.id for ref in _refs(vfs) if ref not in own))


def _refs(vfs: VFS) -> Iterator[TurnRef]:
    """Every turn in the tree, of whichever conversation."""
    found = (ref_at(path.removeprefix(f"{FOLDER}/")) for path in vfs.list_files(f"{FOLDER}/"))
    return (ref for ref in found if ref is not None)


def _last_turn(vfs: VFS) -> TurnRef | None:
    if isinstance(vfs, WorkInProgressVFS):
        own = lane_of(vfs.branch)
        changed = (ref_at(path.removeprefix(f"{FOLDER}/")) for path, state in vfs.pending.items() if state is not None)
        if made := [ref for ref in changed if ref is not None and ref.lane == own]:
            return max(made, key=lambda ref: ref.number)
    return last_turn(vfs.objects, vfs.base, vfs.branch)


def _bytes(vfs: VFS, ref: TurnRef, files: TurnFiles | None = None) -> bytes:
    found = _found(vfs, ref)
    if found is None:
        behind = (files or TurnFiles(vfs.objects, vfs.base)).blob(ref)
        if behind is None:
            raise _missing(ref.id)
        return vfs.objects.blob(behind)
    return found


def _found(vfs: VFS, ref: TurnRef) -> bytes | None:
    path = ref.path
    return vfs.read_bytes(path) if vfs.file_exists(path) else None


def _missing(turn: str) -> TurnMissing:
    return TurnMissing(f"There is no turn {turn} on this branch.", hint="`forge session list` shows its turns.")
