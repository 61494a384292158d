"""The operation feed: publishes every recorded move of a ref as events and an audit row, exactly once.

The operation logs of the repositories are the source, so it makes no difference who moved a ref. A cursor for each
repository moves in the same transaction as what is published from its log.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from forge.app.access.identity import LOCAL
from forge.app.repositories.catalog import id_of, opened
from forge.errors import ForgeError
from forge.events import BranchChanged, Event
from forge.git import ActorKind, Operation, Repository, Request
from forge.git.refs.branch_watch import BranchWatch
from forge.git.refs.operations.tail import LogPosition, LogState, LogTail
from forge.git.refs.ref_files import HEADS
from forge.git.refs.side_refs import BESIDE
from forge.sessions.redaction import Redactor
from forge.store.audit import Deed
from forge.store.database import Database
from forge.store.errors import StoreUnavailable
from forge.store.events import Events
from forge.store.operation_cursors import Cursor, News, OperationCursors
from forge.store.repositories import Repositories, RepositoryRow
from forge.subjects import branch_subject

TURN = "turn"
"""The action of a turn's own commit."""
_NOBODY = "nobody"
_TOGETHER = 500
_POLL = 0.5
_LIST_AGAIN = 5.0
_NOTICE_AGAIN = 2.0
_SHARE = 20
"""Looking for moves by plain git takes at most one part in so many of the time."""
_STORE_AGAIN = 5.0


@dataclass(slots=True)
class _Source:
    """One repository whose log is followed."""

    id: str
    place: Path
    tail: LogTail
    lock: threading.Lock = field(default_factory=threading.Lock)
    published: LogState | None = None
    """The log as it was when all of it had been published."""
    watch: BranchWatch | None = None
    """Only where somebody looks at the repository in this process."""
    notice_at: float = 0.0


class OperationFeed:
    """One per process. In a server or worker `follow` runs; any other process catches up when it opens and ends."""

    def __init__(self, database: Database, events: Events, redactor: Redactor) -> None:
        self._events = events
        self._redactor = redactor
        self._rows = Repositories(database)
        self._cursors = OperationCursors(database)
        self._lock = threading.Lock()
        self._sources: dict[str, _Source] = {}
        self._listed_at = 0.0

    def add(self, repo: Repository) -> None:
        """From now on: what happened before is not news."""
        source = self._source(id_of(repo), repo.common_dir)
        self._cursors.begin(source.id, _cursor(source.tail.end()))

    def forget(self, id_: str) -> None:
        self._cursors.forget(id_)
        with self._lock:
            self._sources.pop(id_, None)

    def look(self, id_: str, repo: Repository) -> None:
        """Somebody looks at it, so moves by plain git matter from now on. Asked with every request."""
        source = self._source(id_, repo.common_dir)
        if source.watch is None:
            source.watch = BranchWatch(repo.common_dir)

    def publish(self, repo: Repository) -> None:
        """All that its log has by now. Whoever has moved a ref here calls this before they answer."""
        self._publish(self._source(id_of(repo), repo.common_dir))

    def catch_up(self) -> None:
        """All that happened while no process followed."""
        known = self._cursors.all()
        for row in self._rows.list():
            if (source := self._listed(row)) is None:
                continue
            with suppress(OSError):  # not readable now; the cursor stays where it is
                if row.id not in known:
                    self._cursors.begin(row.id, _cursor(source.tail.end()))
                elif source.tail.end() != _position(known[row.id]):
                    self._publish(source)
                else:
                    source.published = source.tail.state()
        self._listed_at = time.monotonic()

    async def follow(self) -> None:
        """Publish what any process does, within a second, and what plain git does where somebody looks."""
        while True:
            await asyncio.sleep(_POLL)
            try:
                await asyncio.to_thread(self.poll)
            except StoreUnavailable:  # nothing is lost: the cursors are in the database
                await asyncio.sleep(_STORE_AGAIN)

    def poll(self) -> None:
        if time.monotonic() - self._listed_at > _LIST_AGAIN:
            self.catch_up()
        with self._lock:
            sources = tuple(self._sources.values())
        for source in sources:
            with suppress(OSError):
                _notice(source)
                self._publish(source)

    def _source(self, id_: str, common_dir: Path) -> _Source:
        with self._lock:
            if (source := self._sources.get(id_)) is None:
                source = self._sources[id_] = _Source(id_, common_dir, LogTail(common_dir / "forge"))
            return source

    def _listed(self, row: RepositoryRow) -> _Source | None:
        """None where there is no repository now; it may come back."""
        with self._lock:
            if (source := self._sources.get(row.id)) is not None:
                return source
        try:
            return self._source(row.id, opened(Path(row.path)).common_dir)
        except (ForgeError, OSError):
            return None

    def _publish(self, source: _Source) -> None:
        with source.lock:
            state = source.tail.state()
            if state is None:  # the repository may be away, and come back
                source.published = None
                return
            if state == source.published:
                return
            while self._published_some(source):
                pass
            source.published = state

    def _published_some(self, source: _Source) -> bool:
        """Whether there may be more."""
        count = 0

        def read(cursor: Cursor) -> News:
            nonlocal count
            found, at = _read(source.tail, cursor)
            count = len(found)
            deeds = (self._deed(source, each) for each in found)
            events = tuple(event for each in found for event in _events(source, each))
            return News(_cursor(at), tuple(each for each in deeds if each is not None), events)

        self._cursors.advance(self._events, source.id, read)
        return count >= _TOGETHER

    def _deed(self, source: _Source, operation: Operation) -> Deed | None:
        request, branches = operation.actor.request, _branches(operation)
        conversation = any(move.ref.startswith(BESIDE) for move in operation.moves)
        if not branches and not (conversation and request is not None):
            return None  # Forge's own bookkeeping
        if operation.actor.kind is ActorKind.EXTERNAL:
            request = Request(_NOBODY, None, "branch.move", f"outside Forge: {', '.join(branches)}")
        request = request or Request()
        return Deed(
            id=0,
            time=operation.time,
            user=_text(request.user),
            key=None if request.key is None else _text(request.key),
            action=_text(request.action or "branch.change"),
            subject=f"repository:{source.id}",
            detail=_text(self._redactor.text(request.detail or operation.reason)),
        )


def _events(source: _Source, operation: Operation) -> Iterator[tuple[str, Event]]:
    actor, request = operation.actor, operation.actor.request
    is_local = actor.kind is ActorKind.PERSON and (request is None or request.user == LOCAL.id)
    # What a turn does to its own branch, its own events tell, with all that belongs to it.
    told = request.detail.partition(":")[0] if request is not None and request.action == TURN else None
    for branch, commit in _branches(operation).items():
        if branch != told:
            name = LOCAL.name if is_local else actor.name
            yield branch_subject(source.id, branch).topic, BranchChanged(branch, commit, name)


def _branches(operation: Operation) -> dict[str, str | None]:
    return {move.ref.removeprefix(HEADS): move.after for move in operation.moves if move.ref.startswith(HEADS)}


def _notice(source: _Source) -> None:
    """Write what plain git did into the log, from where it is published like anything else."""
    now = time.monotonic()
    if source.watch is None or now < source.notice_at:
        return
    if source.watch.has_changed():
        with suppress(ForgeError):  # damaged, or gone: whoever opens it is told
            opened(source.place).refs.notice()
    source.notice_at = time.monotonic() + max(_NOTICE_AGAIN, _SHARE * (time.monotonic() - now))


def _read(tail: LogTail, cursor: Cursor) -> tuple[list[Operation], LogPosition]:
    if tail.is_of(_position(cursor)):
        return tail.read(_position(cursor), _TOGETHER)
    # Another log: a new one after somebody deleted it, or an old one out of a backup, which is no news.
    found, at = tail.read(tail.beginning(), sys.maxsize)
    return [each for each in found if each.time > cursor.moved], at


def _position(cursor: Cursor) -> LogPosition:
    return LogPosition(cursor.segment, cursor.position, cursor.mark)


def _cursor(at: LogPosition) -> Cursor:
    return Cursor(at.segment, at.offset, at.mark, time.time())


def _text(text: str) -> str:
    """Names in git are bytes, and a log may hold anything; SQL keeps text."""
    return text.replace("\0", "").encode("utf-8", "backslashreplace").decode()
