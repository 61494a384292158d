"""What happened in a repository: commits, what they changed, who wrote which line, and the graph of it all.

Functions on a `Repository` serve every face; those that take a workshop check what the person may do. Everything comes
in pages or cut to a size that a screen can show, and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from forge.app.repositories.catalog import repository
from forge.app.repositories.diff import (
    ChangedFile,
    brought_by,
    changed_file,
    counted,
    diff,
    parent_of,
    patch,
    without_sessions,
)
from forge.app.values.pages import Page, checked, unreadable
from forge.app.values.text import sound
from forge.errors import InvalidInput
from forge.git import BlameLine, Commit, GraphCursor, GraphRow, NotText, Repository
from forge.git.history import commit_log
from forge.git.history.lanes import Edge
from forge.git.workspace.commit_vfs import file_at
from forge.sessions.summary import Brought

if TYPE_CHECKING:
    from forge.app.access.identity import Who
    from forge.app.process.workshop import Workshop

__all__ = ["BlameLine", "ChangedFile", "Commit", "Edge", "GraphCursor", "GraphRow", "diff", "patch"]

MOST_BLAMED = 5000
_MOST_FILES = 500
_SNIFFED = 8000
_ID = 40
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Person:
    name: str
    email: str
    time: float


@dataclass(frozen=True, slots=True)
class CommitEntry:
    id: str
    parents: tuple[str, ...]
    subject: str
    message: str
    author: Person
    committer: Person
    time: float


@dataclass(frozen=True, slots=True)
class CommitDetail:
    commit: CommitEntry
    trailers: tuple[tuple[str, str], ...]
    refs: tuple[str, ...]
    """Full names of the refs at it."""
    files: tuple[ChangedFile, ...]
    """Against the first parent."""
    truncated: bool
    conversation: Brought | None = None
    """What it brings of conversations; their files are not among `files`."""
    conversation_removed: Brought | None = None


@dataclass(frozen=True, slots=True)
class BlamedLine:
    number: int
    text: str
    commit: str
    author: Person
    summary: str
    original_path: str
    original_number: int


@dataclass(frozen=True, slots=True)
class Blame:
    path: str
    commit: str
    lines: tuple[BlamedLine, ...]
    truncated: bool
    """The file has more lines; ask for those from the next one on."""


@dataclass(frozen=True, slots=True)
class GraphEntry:
    id: str
    parents: tuple[str, ...]
    subject: str
    author: str
    time: float
    lane: int
    edges: tuple[Edge, ...]
    refs: tuple[str, ...]
    abandoned: bool
    refs_left_out: int = 0
    """Names at this commit beyond `refs`."""
    tips_left_out: int = 0
    """Branches and tags that the graph is not drawn from, because there are too many; the newest are."""


def log(
    shop: Workshop,
    who: Who,
    repo_id: str,
    rev: str | None = None,
    *,
    paths: Sequence[str] = (),
    follow: bool = False,
    grep: str | None = None,
    author: str | None = None,
    after: str | None = None,
    limit: int = 100,
) -> Page[CommitEntry]:
    """Newest first. Pages are of the history as it was at the first one, also when the branch has moved since."""
    count = checked(limit)
    sound(*paths, grep, author)
    repo = repository(shop, who, repo_id)
    if after is None and rev is None and repo.is_empty:
        return Page(())
    tip, skip = _place(after) if after else (repo.resolve(rev or "HEAD"), 0)
    found = repo.log(
        tip, paths=paths, follow=follow, grep=grep, author=author, skip=skip, limit=count + 1, order="date"
    )
    items = tuple(islice(map(commit_entry, found), count + 1))
    return Page(items[:count], f"{tip}+{skip + count}" if len(items) > count else None)


def commit(shop: Workshop, who: Who, repo_id: str, rev: str) -> CommitDetail:
    repo = repository(shop, who, repo_id)
    shown = commit_log.show(repo.objects, repo.resolve(rev), counts=False)
    every = counted(repo, parent_of(repo, shown.commit.id), shown.commit.id)
    files = tuple(map(changed_file, without_sessions(every)))
    truncated = len(files) > _MOST_FILES
    entry = commit_entry(shown.commit)
    return CommitDetail(entry, shown.trailers, shown.refs, files[:_MOST_FILES], truncated, *brought_by(every))


def blame(
    shop: Workshop, who: Who, repo_id: str, path: str, rev: str = "HEAD", *, first: int = 1, last: int | None = None
) -> Blame:
    """Who wrote which line, from `first` to `last`; of a longer file, the first lines of that."""
    if last is not None and last < first:
        raise InvalidInput(f"There are no lines {first} to {last}.", hint="Say the first line, then the last.")
    repo = repository(shop, who, repo_id)
    at = repo.resolve(rev)
    view = repo.commit_vfs(at)
    file_at(view, path)
    data = view.read_bytes(path)
    if b"\0" in data[:_SNIFFED]:
        raise NotText(f"{path} is binary; it has no lines.", hint="Look at its history instead.")
    if not data:
        return Blame(path, at, (), truncated=False)
    length = data.count(b"\n") + (not data.endswith(b"\n"))
    end = min(last or length, first + MOST_BLAMED - 1)
    lines = tuple(_blamed(line) for line in repo.blame(path, at, lines=(first, end)))
    return Blame(path, at, lines, truncated=end < min(last or length, length))


def graph(
    shop: Workshop, who: Who, repo_id: str, *, after: str | None = None, limit: int = 200, abandoned: bool = False
) -> Page[GraphEntry]:
    """Commits of all branches with their lanes, newest first."""
    count = checked(limit)
    repo = repository(shop, who, repo_id)
    rows, more = graph_page(repo, limit=count, after=after, abandoned=abandoned)
    return Page(tuple(map(graph_entry, rows)), more)


# On an open repository


def graph_page(
    repo: Repository, *, limit: int, after: str | None = None, abandoned: bool = False
) -> tuple[list[GraphRow], str | None]:
    resume = GraphCursor.parse(after) if after else None
    rows = list(repo.graph(limit=limit, resume=resume, abandoned=abandoned))
    more = rows[-1].cursor if rows else None
    return rows, more.text() if more else None


def commit_entry(found: Commit) -> CommitEntry:
    author, committer = (Person(each.name, each.email, float(each.time)) for each in (found.author, found.committer))
    return CommitEntry(
        found.id, found.parents, found.subject, found.message, author, committer, float(found.committer.time)
    )


def _place(after: str) -> tuple[str, int]:
    """Where a page of the log ended: the commit it began at, and how many have come since."""
    tip, plus, skip = after.partition("+")
    if not plus or len(tip) != _ID or not skip.isdecimal() or len(skip) > _DIGITS:
        raise unreadable(after)
    return tip, int(skip)


def _blamed(line: BlameLine) -> BlamedLine:
    author = Person(line.author.name, line.author.email, float(line.author.time))
    text = line.text.decode("utf-8", "replace")
    return BlamedLine(line.number, text, line.commit, author, line.summary, line.original_path, line.original_number)


def graph_entry(row: GraphRow) -> GraphEntry:
    made = row.commit
    return GraphEntry(
        id=made.id,
        parents=made.parents,
        subject=made.subject,
        author=made.author,
        time=float(made.time),
        lane=row.lane,
        edges=row.edges,
        refs=row.refs,
        abandoned=row.abandoned,
        refs_left_out=row.refs_left_out,
        tips_left_out=row.tips_left_out,
    )
