"""A branch without its conversations: the same history in new commits, for those who must not see the sessions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.git.errors import RevisionMissing
from forge.git.objects import trees
from forge.git.objects.raw_object import NewObjects, RawObject, object_id
from forge.git.values import Commit, CommitId, Entry, Mode, ObjectId, ObjectKind
from forge.git.workspace.forge_records import is_session

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects, Unwritten


@dataclass(frozen=True, slots=True)
class Exported:
    """`tip` is the branch as it would have been without sessions; `commits` of its commits are new."""

    tip: CommitId | None
    tree: ObjectId | None
    new: NewObjects
    commits: int
    left_out: int
    """Commits that held nothing but conversation."""


def without_sessions(
    objects: Objects, history: Iterable[Commit], instead: Mapping[str, bytes] | None = None
) -> Exported:
    """Rewrite `history`, parents before children, without `.forge/session*`. Nothing is written here.

    The last commit gets the files `instead`.

    Commits that never saw a session stay as they are, with their ids. Signatures of rewritten ones are dropped: they
    would no longer hold.
    """
    new: NewObjects = {}
    became: dict[CommitId, CommitId | None] = {}
    trees_of: dict[CommitId, ObjectId] = {}
    rewritten = left_out = 0
    tip: CommitId | None = None
    for commit in history:
        tree, made = _without(objects, commit.tree)
        parents = tuple(dict.fromkeys(p for old in commit.parents if (p := became.get(old, old)) is not None))
        if tree == commit.tree and parents == commit.parents:
            became[commit.id] = tip = commit.id
        elif _only_conversation(commit, tree, parents, trees_of, objects):
            became[commit.id] = tip = parents[0] if parents else None
            left_out += 1
        else:
            raw = _rewritten(objects.read(commit.id).data, tree, parents)
            tip = CommitId(object_id(ObjectKind.COMMIT, raw))
            new |= made
            new[ObjectId(tip)] = RawObject(ObjectKind.COMMIT, raw)
            became[commit.id] = tip
            rewritten += 1
        if tip is not None:
            trees_of[tip] = tree
    if tip is None or not instead:
        return Exported(tip, trees_of.get(tip) if tip else None, new, rewritten, left_out)
    is_old = ObjectId(tip) not in new
    tip, tree = _with_files(objects.with_new(new), tip, trees_of[tip], instead)
    return Exported(tip, tree, new, rewritten + is_old, left_out)


def _with_files(
    view: Unwritten, tip: CommitId, tree: ObjectId, files: Mapping[str, bytes]
) -> tuple[CommitId, ObjectId]:
    """The same commit with these files in its tree besides."""
    entries: dict[str, Entry | None] = {}
    for path, data in files.items():
        blob = object_id(ObjectKind.BLOB, data)
        view.new[blob] = RawObject(ObjectKind.BLOB, data)
        entries[path] = Entry(Mode.FILE, blob)
    tree, made = trees.rewrite(view.raw_tree, tree, entries)
    raw = _rewritten(view.read(tip).data, tree, view.commit(tip).parents)
    changed = CommitId(object_id(ObjectKind.COMMIT, raw))
    view.new.update(made)
    view.new[ObjectId(changed)] = RawObject(ObjectKind.COMMIT, raw)
    return changed, tree


def _without(objects: Objects, tree: ObjectId) -> tuple[ObjectId, NewObjects]:
    folder = objects.entry(tree, ".forge")
    if folder is None or not folder.is_tree:
        return tree, {}
    gone: dict[str, Entry | None] = {
        f".forge/{name}": None for name in objects.tree(folder.id) if is_session(f".forge/{name}")
    }
    return trees.rewrite(objects.raw_tree, tree, gone) if gone else (tree, {})


def _only_conversation(
    commit: Commit,
    tree: ObjectId,
    parents: tuple[CommitId, ...],
    trees_of: dict[CommitId, ObjectId],
    objects: Objects,
) -> bool:
    """Whether nothing is left of the commit. A merge is kept: it says that two lines came together."""
    if len(parents) > 1 or tree == commit.tree:
        return False
    if not parents:
        return len(commit.parents) == 0 and not objects.paths(tree)
    try:
        before = trees_of.get(parents[0]) or objects.commit(parents[0]).tree
    except RevisionMissing:  # the edge of a shallow clone
        return False
    return before == tree


def _rewritten(original: bytes, tree: ObjectId, parents: tuple[CommitId, ...]) -> bytes:
    """The original with another tree and parents and without its signature; all else byte for byte."""
    head, _, message = original.partition(b"\n\n")
    lines = [b"tree " + tree.encode(), *(b"parent " + parent.encode() for parent in parents)]
    dropped = False
    for line in head.split(b"\n"):
        if line.startswith(b" "):  # continues with the header above
            if not dropped:
                lines.append(line)
            continue
        key = line.split(b" ", 1)[0]
        dropped = key in (b"tree", b"parent", b"gpgsig", b"gpgsig-sha256", b"mergetag")
        if not dropped:
            lines.append(line)
    return b"\n".join(lines) + b"\n\n" + message
