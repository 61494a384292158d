"""The commit graph as rows that a view draws one by one, newest first, children before parents."""

from __future__ import annotations

import json
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from forge.errors import InvalidInput
from forge.git.errors import GitFailed
from forge.git.history.abandoned import KEPT, Family, abandoned_commits, heads_of, kept_tips, leading, logged_tips
from forge.git.history.commit_log import refs_at, rows
from forge.git.history.lanes import Edge, Lanes
from forge.git.history.revisions import revisions
from forge.git.refs.damage import readable_tips
from forge.git.values import CommitId

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

_FIELDS = ("%H", "%P", "%s", "%an", "%ct")
_MAX_CURSOR = 16 << 20
MAX_TIPS = 500
"""Tips that are drawn from at most, the newest ones: a cursor names them all, and it goes into an address."""
MAX_LABELS = 20
"""Names shown at one commit."""


@dataclass(frozen=True, slots=True)
class GraphCommit:
    id: CommitId
    parents: tuple[CommitId, ...]
    subject: str
    author: str
    time: int
    """When it was committed, in seconds."""


@dataclass(frozen=True, slots=True)
class GraphCursor:
    """Where a page ended: all that the next one needs, also when branches have moved since."""

    position: int
    """Rows so far."""
    lanes: tuple[CommitId | None, ...]
    order: tuple[CommitId, ...]
    tips: tuple[CommitId, ...]
    """Tips that have not come yet and to which no line leads."""
    reserved: CommitId | None
    abandoned: tuple[CommitId, ...]
    """Those of the commits above that nothing else leads to."""
    left_out: int = 0
    """Tips that were too many to draw from."""

    def text(self) -> str:
        """For a URL or a message; `parse` reads it."""
        fields = [self.position, self.lanes, self.order, self.tips, self.reserved, self.abandoned, self.left_out]
        return urlsafe_b64encode(zlib.compress(json.dumps(fields, separators=(",", ":")).encode())).decode()

    @classmethod
    def parse(cls, text: str) -> GraphCursor:
        try:
            raw = zlib.decompressobj().decompress(urlsafe_b64decode(text), _MAX_CURSOR)
            position, lanes, order, tips, reserved, lost, *more = json.loads(raw)
            cursor = cls(position, tuple(lanes), tuple(order), tuple(tips), reserved, tuple(lost), *more)
            ids = [commit for commit in cursor.lanes if commit is not None]
            sound = all(isinstance(commit, str) for commit in (*ids, *cursor.tips, *cursor.abandoned))
            sound = (
                sound
                and isinstance(position, int)
                and isinstance(cursor.left_out, int)
                and sorted(ids) == sorted(cursor.order)
                and len(set(ids)) == len(ids)
            )
        except (ValueError, TypeError, RecursionError, zlib.error) as e:
            raise _no_cursor() from e
        if not sound or not (reserved is None or reserved in ids):
            raise _no_cursor()
        return cursor


@dataclass(frozen=True, slots=True)
class GraphRow:
    commit: GraphCommit
    lane: int
    edges: tuple[Edge, ...]
    """Every line between this row and the next, also those that only pass by."""
    refs: tuple[str, ...]
    """The first ones; kept tips among them only where nothing else leads here."""
    abandoned: bool
    """Whether no branch, tag, remote branch or HEAD leads here."""
    cursor: GraphCursor | None = None
    """On the last row of a page, if more rows follow."""
    refs_left_out: int = 0
    """Names at this commit beyond `refs`."""
    tips_left_out: int = 0
    """Tips of the whole graph that are not drawn from, because there are too many."""


def graph(
    objects: Objects,
    tips: Sequence[CommitId | str] | None = None,
    *,
    limit: int | None = None,
    resume: GraphCursor | None = None,
    abandoned: bool = False,
) -> Iterator[GraphRow]:
    """Rows from `tips` (ids or full ref names; None: from every ref) down to the first commits.

    The first tip has the leftmost lane; of very many tips the newest are drawn. `abandoned` adds what only kept refs
    and reflogs remember.
    With `resume` the page after that cursor comes, and `tips` and `abandoned` are as they were.
    """
    refs = refs_at(objects)
    safe = leading(refs)
    if resume:
        revisions(objects, [*resume.tips, *resume.order, *resume.abandoned])
        lost = abandoned_commits(objects, resume.abandoned, safe)
    else:
        starts = [CommitId(tip) for tip in (safe if tips is None else revisions(objects, tips))]
        lost = _lost(objects, starts, safe, remembering=abandoned)
        every = list(dict.fromkeys([*starts, *(heads_of(lost) if abandoned else ())]))
        starts = _newest(objects, every)
        first = tuple(starts[:1])
        left_out = len(every) - len(starts)
        resume = GraphCursor(0, first, first, tuple(starts[1:]), next(iter(first), None), (), left_out)
    return _rows(objects, refs, resume, frozenset(lost), limit)


def _rows(
    objects: Objects,
    refs: Mapping[CommitId, tuple[str, ...]],
    start: GraphCursor,
    lost: frozenset[CommitId],
    limit: int | None,
) -> Iterator[GraphRow]:
    """A tip whose history cannot be read hides no other."""
    has_begun = start.position > 0
    try:
        for row in _page(objects, _Walk(refs, start, lost), limit):
            has_begun = True
            yield row
    except GitFailed:
        if has_begun:
            raise
        tips = tuple(readable_tips(objects, _Walk(refs, start, lost).starts()))
        start = GraphCursor(0, tips[:1], tips[:1], tips[1:], next(iter(tips), None), (), start.left_out)
        yield from _page(objects, _Walk(refs, start, lost), limit)


def _newest(objects: Objects, tips: list[CommitId]) -> list[CommitId]:
    """The first tip and the newest of the others, in the order they had."""
    if len(tips) <= MAX_TIPS:
        return tips
    others = "".join(f"{tip}\n" for tip in tips[1:]).encode()
    command = ("rev-list", "--no-walk", f"--max-count={MAX_TIPS - 1}", "--ignore-missing", "--stdin")
    newest = set(objects.git.text(*command, stdin=others).split())
    return [tip for place, tip in enumerate(tips) if place == 0 or tip in newest]


def _lost(objects: Objects, starts: list[CommitId], safe: list[CommitId], *, remembering: bool) -> Family:
    if not remembering:
        return abandoned_commits(objects, starts, safe)
    kept = [*starts, *kept_tips(objects)]
    try:
        return abandoned_commits(objects, [*kept, *logged_tips(objects)], safe)
    except GitFailed:
        # A reflog may name commits of which a gc has left only a part; what Forge keeps is whole.
        return abandoned_commits(objects, kept, safe)


def _page(objects: Objects, walk: _Walk, limit: int | None) -> Iterator[GraphRow]:
    starts = walk.starts()
    if not starts or limit == 0:
        return
    # One more than asked for tells whether a next page exists.
    args = ["--date-order"] if limit is None else ["--date-order", f"--max-count={limit + 1}"]
    held: GraphRow | None = None
    with closing(rows(objects, _FIELDS, [*args, "--end-of-options", *starts, "--"])) as found:
        for count, fields in enumerate(found):
            if held and count == limit:
                yield replace(held, cursor=walk.cursor())
                return
            if held:
                yield held
            held = walk.row(fields)
    if held:
        yield held


class _Walk:
    """What is known between two rows.

    By date, git takes among the commits whose children have all come the newest, and of equally old ones the one
    that was ready first. So a walk that starts again from the tips and lines left, in that order, continues alike.
    """

    def __init__(
        self, refs: Mapping[CommitId, tuple[str, ...]], start: GraphCursor, abandoned: frozenset[CommitId]
    ) -> None:
        self.refs = refs
        self.abandoned = abandoned
        self._lanes = Lanes(start.lanes, start.order, start.reserved)
        self._tips = dict.fromkeys(start.tips)
        self._position = start.position
        self._left_out = start.left_out

    def starts(self) -> tuple[CommitId, ...]:
        reserved = self._lanes.reserved
        lines = tuple(commit for commit in self._lanes.order if commit != reserved)
        return (*([reserved] if reserved else ()), *self._tips, *lines)

    def row(self, fields: list[bytes]) -> GraphRow:
        commit = _commit(fields)
        self._position += 1
        self._tips.pop(commit.id, None)
        for parent in commit.parents:
            self._tips.pop(parent, None)
        lane, edges = self._lanes.place(commit.id, commit.parents)
        abandoned, refs = commit.id in self.abandoned, self.refs.get(commit.id, ())
        if not abandoned:
            refs = tuple(name for name in refs if not name.startswith(KEPT))
        more = max(0, len(refs) - MAX_LABELS)
        return GraphRow(
            commit, lane, edges, refs[:MAX_LABELS], abandoned, refs_left_out=more, tips_left_out=self._left_out
        )

    def cursor(self) -> GraphCursor:
        lanes, tips = self._lanes, tuple(self._tips)
        lost = tuple(commit for commit in (*tips, *lanes.order) if commit in self.abandoned)
        return GraphCursor(self._position, lanes.waiting, lanes.order, tips, lanes.reserved, lost, self._left_out)


def _commit(fields: list[bytes]) -> GraphCommit:
    commit_id, parents, subject, author, time = (field.decode("utf-8", "replace") for field in fields)
    return GraphCommit(
        CommitId(commit_id), tuple(CommitId(parent) for parent in parents.split()), subject, author, int(time or 0)
    )


def _no_cursor() -> InvalidInput:
    return InvalidInput("This is not the end of a page of the graph.", hint="Load the graph from the start.")
