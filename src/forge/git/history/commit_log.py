"""What happened: the commits that lead to a point, one commit in full, and how far two points are apart."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Literal, TypedDict

import pygit2

from forge.errors import InvalidInput
from forge.git.history.diff import FileChange, diff
from forge.git.history.newest import MOST, is_whole, newest
from forge.git.history.revisions import commit_at, revisions
from forge.git.values import Commit, CommitId, ObjectId, ObjectKind, Signature
from forge.git.workspace.paths import readable

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

_SHOWN_REFS = ("refs/heads/", "refs/tags/", "refs/remotes/", "refs/forge/kept/")
_FIELDS = ("%H", "%T", "%P", "%an", "%ae", "%ad", "%cn", "%ce", "%cd", "%B")
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class CommitDetails:
    commit: Commit
    trailers: tuple[tuple[str, str], ...]
    changes: tuple[FileChange, ...]
    """Against the first parent; of a first commit everything it holds."""
    refs: tuple[str, ...]


class LogOptions(TypedDict, total=False):
    """The options of `log`, for those who pass them on."""

    exclude: Sequence[CommitId | str]
    paths: Sequence[str]
    limit: int | None
    skip: int
    follow: bool
    first_parent: bool
    grep: str | None
    author: str | None
    since: int | None
    until: int | None
    order: Literal["topo", "date"]


def log(
    objects: Objects,
    start: Sequence[CommitId | str],
    *,
    exclude: Sequence[CommitId | str] = (),
    paths: Sequence[str] = (),
    limit: int | None = None,
    skip: int = 0,
    follow: bool = False,
    first_parent: bool = False,
    grep: str | None = None,
    author: str | None = None,
    since: int | None = None,
    until: int | None = None,
    order: Literal["topo", "date"] = "topo",
) -> Iterator[Commit]:
    """Commits reachable from `start` and not from `exclude`, as git finds them; leaving early ends git.

    Points are ids or full ref names. `grep` and `author` are plain text in any case, `since` and `until` seconds,
    `follow` keeps to one file across renames. By "date" the first commits come at once in any repository.
    """
    if follow and len(paths) != 1:
        raise InvalidInput("Only one file can be followed.", hint="Give one path, or leave `follow` out.")
    limits = [f":(top,literal){readable(path.rstrip('/'))}" for path in paths]
    points = revisions(objects, start, exclude=exclude)
    if not points or limit == 0:
        return iter(())
    is_plain = not (exclude or paths or first_parent or grep or author) and since is None and until is None
    if is_plain and order == "date" and limit is not None and skip + limit <= MOST and is_whole(objects):
        return newest(objects, [CommitId(point) for point in points], skip=skip, limit=limit)
    args = ["--follow" if follow else "--no-follow", f"--skip={skip}", "--fixed-strings", "--regexp-ignore-case"]
    args += ["--topo-order"] if order == "topo" else []
    args += ["--first-parent"] if first_parent else []
    args += [f"--max-count={limit}"] if limit is not None else []
    args += [f"--grep={_argument(grep)}"] if grep else []
    args += [f"--author={_argument(author)}"] if author else []
    args += [f"--max-age={since}"] if since is not None else []
    args += [f"--min-age={until}"] if until is not None else []
    return _commits(objects, rows(objects, _FIELDS, [*args, "--end-of-options", *points, "--", *limits]), limits)


def _commits(objects: Objects, found: Generator[list[bytes]], limits: Sequence[str]) -> Iterator[Commit]:
    with closing(found):
        for row in found:
            # Limited to paths, git lists only the parents that it follows.
            yield objects.commit(CommitId(row[0].decode())) if limits else _commit(row)


def rows(objects: Objects, fields: Sequence[str], args: Sequence[str]) -> Generator[list[bytes]]:
    """Each commit of `git log` as the values of `fields`, while git is still looking for the next."""
    command = ["log", "-z", "-s", "--no-notes", "--no-color", "--no-ext-diff", "--no-textconv"]
    command += ["--encoding=UTF-8", "--date=raw", f"--format=tformat:{'%x00'.join(fields)}", *args]
    with objects.git.stream(*command) as output:
        row: list[bytes] = []
        for value in _values(output):
            row.append(value)
            if len(row) == len(fields):
                yield row
                row = []


def _values(output: IO[bytes]) -> Iterator[bytes]:
    """What lies between NUL bytes, as soon as it is there."""
    rest = b""
    while chunk := os.read(output.fileno(), _CHUNK):
        *values, rest = (rest + chunk).split(b"\0")
        yield from values


def show(objects: Objects, commit_id: CommitId, *, counts: bool = True) -> CommitDetails:
    """One commit with its trailers, the files it changed and the refs at it."""
    commit = objects.commit(commit_at(objects, commit_id))
    # At the edge of a shallow clone the parent is named but not there: git shows a first commit, and so do we.
    parent = next((p for p in commit.parents[:1] if objects.has(p)), None)
    old_tree: ObjectId | None = objects.commit(parent).tree if parent else None
    return CommitDetails(
        commit,
        _trailers(objects, commit.id),
        diff(objects, old_tree, commit.tree, counts=counts),
        refs_at(objects).get(commit.id, ()),
    )


def ahead_behind(objects: Objects, a: CommitId, b: CommitId) -> tuple[int, int]:
    """How many commits `a` has that `b` has not, and the other way round."""
    points = f"{commit_at(objects, a)}...{commit_at(objects, b)}"
    counted = objects.git.text("rev-list", "--count", "--left-right", "--end-of-options", points, "--")
    ahead, behind = counted.split()
    return int(ahead), int(behind)


def refs_at(objects: Objects) -> Mapping[CommitId, tuple[str, ...]]:
    """HEAD, branches, tags, remote branches and kept tips by the commit they lead to, as full names."""
    handle = objects.handle
    odb = handle.odb
    names: dict[CommitId, list[str]] = {}
    head = _head(handle)
    if head is not None:
        names[head] = ["HEAD"]
    tags: dict[str, CommitId | None] = {}
    for ref in handle.references.iterator():
        target = ref.raw_target
        if not ref.name.startswith(_SHOWN_REFS) or isinstance(target, bytes):  # symbolic refs repeat others
            continue
        found = str(target)
        if found not in tags:
            # Most are commits, and with very many branches the look at each takes the time.
            tags[found] = CommitId(found) if _is_commit(odb, target) else _peeled(handle, found)
        commit_id = tags[found]
        if commit_id is not None:
            names.setdefault(commit_id, []).append(ref.name)
    return {commit: tuple(sorted(at, key=_rank) if len(at) > 1 else at) for commit, at in names.items()}


def _rank(name: str) -> tuple[int, str]:
    return next((place for place, prefix in enumerate(_SHOWN_REFS) if name.startswith(prefix)), -1), name


def _head(handle: pygit2.Repository) -> CommitId | None:
    try:
        return None if handle.head_is_unborn else _peeled(handle, str(handle.head.target))
    except (KeyError, pygit2.GitError):  # HEAD names a ref that cannot be read, so it is at no commit
        return None


def _is_commit(odb: pygit2.Odb, oid: pygit2.Oid) -> bool:
    try:
        return odb.read_header(oid)[0] == ObjectKind.COMMIT
    except (KeyError, pygit2.GitError):
        return False


def _peeled(handle: pygit2.Repository, oid: str) -> CommitId | None:
    try:
        return CommitId(str(handle[oid].peel(pygit2.Commit).id))
    except (KeyError, pygit2.GitError, ValueError):  # a tag of a file, or an object that is not there
        return None


def _trailers(objects: Objects, commit_id: CommitId) -> tuple[tuple[str, str], ...]:
    form = "%(trailers:only=true,unfold=true,separator=%x00,key_value_separator=%x00)"
    values = objects.git.run("log", "-1", "-s", "--encoding=UTF-8", f"--format=format:{form}", commit_id, "--").stdout
    texts = values.decode("utf-8", "replace").removesuffix("\n").split("\0")
    return tuple(zip(texts[::2], texts[1::2], strict=False))


def _commit(row: list[bytes]) -> Commit:
    commit_id, tree, parents, *people, message = (value.decode("utf-8", "replace") for value in row)
    return Commit(
        CommitId(commit_id),
        ObjectId(tree),
        tuple(CommitId(parent) for parent in parents.split()),
        _signature(*people[:3]),
        _signature(*people[3:]),
        message,
    )


def _signature(name: str, email: str, stamp: str) -> Signature:
    seconds, _, zone = stamp.partition(" ")
    minutes = int(zone[1:-2] or 0) * 60 + int(zone[-2:] or 0)
    return Signature(name, email, int(seconds or 0), -minutes if zone.startswith("-") else minutes)


def _argument(text: str) -> str:
    if "\0" in text:
        raise InvalidInput("A search text cannot contain a NUL character.", hint="Remove it.")
    return text
