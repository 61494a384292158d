"""The files of a branch or commit: listed in pages, read and searched.

Functions on a `Repository` serve every face; those that take a workshop check what the person may do.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from forge.app.repositories.catalog import existing_branch, repository
from forge.app.values.pages import Page, checked
from forge.app.values.text import sound
from forge.errors import InvalidInput
from forge.git import (
    Case,
    Change,
    DirEntry,
    DirKind,
    Entry,
    FileMatches,
    GitCommitVFS,
    Match,
    Mode,
    NotText,
    Query,
    Repository,
)
from forge.git.errors import FileMissing
from forge.git.objects.trees import encode
from forge.git.search.results import SearchOutcome
from forge.git.workspace.commit_vfs import file_at

if TYPE_CHECKING:
    from forge.app.access.identity import Who
    from forge.app.process.workshop import Workshop

__all__ = [
    "Case",
    "Change",
    "DirKind",
    "FileMatches",
    "FileMissing",
    "GitCommitVFS",
    "Match",
    "Mode",
    "NotText",
    "Query",
    "SearchOutcome",
]

_SNIFFED = 8000
_SEARCH_SECONDS = 10.0
_FORGE = ".forge"
_SESSIONS = "/.forge/session*"


@dataclass(frozen=True, slots=True)
class FileEntry:
    path: str
    mode: str
    etag: str


@dataclass(frozen=True, slots=True)
class FolderEntry:
    name: str
    path: str
    kind: DirKind
    mode: str
    etag: str


@dataclass(frozen=True, slots=True)
class FileContent:
    path: str
    data: bytes
    mode: str
    etag: str
    """The id of its content: the same wherever and whenever the content is the same."""
    commit: str | None
    binary: bool

    @property
    def text(self) -> str | None:
        """None where it is binary or not UTF-8."""
        try:
            return None if self.binary else self.data.decode()
        except UnicodeDecodeError:
            return None


def list_files(
    shop: Workshop,
    who: Who,
    repo_id: str,
    *,
    branch: str | None = None,
    at: str | None = None,
    prefix: str = "",
    after: str | None = None,
    limit: int = 500,
) -> Page[FileEntry]:
    """Every file whose path begins with `prefix`, in git's order. `after` is the last path that is known."""
    sound(prefix, after)
    view = looked_at(repository(shop, who, repo_id), branch, at)
    found = list(islice(files_after(view, prefix, after), checked(limit) + 1))
    items = tuple(FileEntry(path, f"{entry.mode:06o}", entry.id) for path, entry in found[:limit])
    return Page(items, items[-1].path if len(found) > limit else None)


@dataclass(frozen=True, slots=True)
class Paths:
    etag: str
    """The same as long as no file is changed, added or taken away."""
    paths: Sequence[str]


def all_paths(shop: Workshop, who: Who, repo_id: str, *, branch: str | None = None, at: str | None = None) -> Paths:
    """Every path and nothing else, for whoever looks for one by its letters."""
    view = looked_at(repository(shop, who, repo_id), branch, at)
    return Paths(view.tree, view.list_files())


def list_folder(
    shop: Workshop,
    who: Who,
    repo_id: str,
    path: str = "",
    *,
    branch: str | None = None,
    at: str | None = None,
    after: str | None = None,
    limit: int = 500,
) -> Page[FolderEntry]:
    """What is directly in a folder, in git's order. `after` is the last name that is known."""
    count = checked(limit)
    sound(path, after)
    view = looked_at(repository(shop, who, repo_id), branch, at)
    folder = path.rstrip("/")
    rows = view.list_dir(folder)
    start = _behind(rows, after) if after else 0
    above = f"{folder}/" if folder else ""
    entries = [(row, view.entry(above + row.name)) for row in rows[start : start + count]]
    items = tuple(
        FolderEntry(row.name, above + row.name, row.kind, f"{row.mode:06o}", entry.id if entry else "")
        for row, entry in entries
    )
    return Page(items, items[-1].name if start + count < len(rows) else None)


def read_file(
    shop: Workshop, who: Who, repo_id: str, path: str, *, branch: str | None = None, at: str | None = None
) -> FileContent:
    view = looked_at(repository(shop, who, repo_id), branch, at)
    entry = file_at(view, path)
    data = view.read_bytes(path)
    return FileContent(path, data, f"{entry.mode:06o}", entry.id, view.commit, b"\0" in data[:_SNIFFED])


def search(
    shop: Workshop, who: Who, repo_id: str, query: Query, *, branch: str | None = None, at: str | None = None
) -> SearchOutcome:
    """Bounded by the query's own limits, and in time."""
    checked(query.max_matches)
    if query.max_seconds > _SEARCH_SECONDS:
        raise InvalidInput(f"A search may take {_SEARCH_SECONDS:.0f} s.", hint="Set max_seconds to that, or less.")
    repo = repository(shop, who, repo_id)
    return found_in(repo, looked_at(repo, branch, at), query)


# On an open repository


def looked_at(repo: Repository, branch: str | None, at: str | None) -> GitCommitVFS:
    """The files of the commit or branch named, else of the checkout's commit, if there is one yet."""
    if branch is not None and at is not None:
        raise InvalidInput("A branch and a commit are two things to look at.", hint="Leave one of them out.")
    if at is not None:
        return repo.commit_vfs(at)
    current = branch or repo.current_branch
    if current is None:
        return repo.commit_vfs("HEAD")
    return GitCommitVFS(repo.objects, repo.workspace(existing_branch(repo, current)).base)


def found_in(repo: Repository, view: GitCommitVFS, query: Query) -> SearchOutcome:
    """Records of conversations are nobody's files: they are left out, unless a glob asks for them."""
    if not any(_FORGE in glob for glob in query.include):
        query = replace(query, exclude=(*query.exclude, _SESSIONS))
    return repo.search(view, query).collected()


def files_after(view: GitCommitVFS, prefix: str = "", after: str | None = None) -> Iterator[tuple[str, Entry]]:
    """Files with their entries in git's order, from the one behind `after`; only folders on the way are read."""
    view.objects.refuse_bomb(view.tree)
    last = encode(after) if after else b""
    folders = [("", iter(view.objects.tree(view.tree).items()))]
    while folders:
        above, rest = folders[-1]
        for name, entry in rest:
            path = f"{above}{name}"
            if entry.is_tree:
                path += "/"
                here = encode(path)
                if (path.startswith(prefix) or prefix.startswith(path)) and (here > last or last.startswith(here)):
                    folders.append((path, iter(view.objects.tree(entry.id).items())))
                    break
            elif not entry.is_submodule and path.startswith(prefix) and encode(path) > last:
                yield path, entry
        else:
            folders.pop()


def _behind(rows: Sequence[DirEntry], after: str) -> int:
    """Where the rows behind the name `after` begin, also when that is gone."""
    known = next((number for number, row in enumerate(rows) if row.name == after), None)
    return bisect_right([encode(row.name) for row in rows], encode(after)) if known is None else known + 1
