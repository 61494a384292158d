"""Searching: one question to a tree and the changes pending on it, answered file by file."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from forge.git.objects import trees
from forge.git.search import globs
from forge.git.search.blob_reader import MOST_BINARY, is_binary
from forge.git.search.dialect import Pattern, pattern_of
from forge.git.search.documents import Scope, documents
from forge.git.search.effort import has_long_line
from forge.git.search.guard import Helpers
from forge.git.search.matches import FileMatches, shown
from forge.git.search.query import Query, TimeUp

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.search.lines import Hit
    from forge.git.values import ObjectId
    from forge.git.workspace.pending import Pending

_NOTHING: Mapping[str, Pending | None] = MappingProxyType({})


class Limit(StrEnum):
    """What made a search stop before the end."""

    MATCHES = "matches"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """All that a search found. `matches` counts lines."""

    files: tuple[FileMatches, ...]
    matches: int
    truncated: Limit | None
    binary: tuple[str, ...]
    too_large: tuple[str, ...]


class _File(NamedTuple):
    path: str
    binary: bool


class SearchResult:
    """The files with matches, in git's order, while the search runs. Its own figures are right at the end."""

    def __init__(self, scope: Scope, pattern: Pattern, query: Query) -> None:
        self.truncated: Limit | None = None
        self.binary: list[str] = []
        """Binary files that match; their lines are not shown."""
        self._scope = scope
        self._pattern = pattern
        self._query = query
        self._files = self._searched()

    @property
    def too_large(self) -> list[str]:
        """Files of more than `max_file_bytes`; nobody looked into them."""
        return sorted(self._scope.too_large, key=trees.encode)

    def __iter__(self) -> Iterator[FileMatches]:
        return self._files

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop here."""
        self._files.close()

    def collected(self) -> SearchOutcome:
        """Everything at once."""
        files = tuple(self)
        matches = sum(len(file.matches) for file in files)
        return SearchOutcome(files, matches, self.truncated, tuple(self.binary), tuple(self.too_large))

    def _searched(self) -> Generator[FileMatches, None, None]:
        query = self._query
        left = query.max_matches
        with closing(self._judged(min(left, query.max_per_file) + 1)) as judged:
            for path, text, hits in judged:
                if not left:
                    self.truncated = Limit.MATCHES
                    return
                most = min(left, query.max_per_file)
                left -= min(len(hits), most)
                yield FileMatches(path, shown(text, hits[:most], query), len(hits) > most)
                if len(hits) > most and not left:
                    self.truncated = Limit.MATCHES
                    return

    def _judged(self, limit: int) -> Generator[tuple[str, bytes, list[Hit]], None, None]:
        """Files that match, with their text and up to `limit` hits."""
        with ExitStack() as stack:
            pattern = self._pattern
            texts = stack.enter_context(closing(self._texts()))
            helpers = stack.enter_context(Helpers[_File](pattern, limit=limit, deadline=self._scope.deadline))
            # Where no file can be left out beforehand there is enough work for every processor.
            if not pattern.tame or not (pattern.literals.selective or pattern.finder.is_fixed):
                answers = helpers.hits(texts)
            else:
                answers = _in_turn(pattern, helpers, texts, limit)
            try:
                for file, text, hits in answers:
                    if hits and file.binary:
                        self.binary.append(file.path)
                    elif hits:
                        yield file.path, text, hits
            except TimeUp:
                self.truncated = Limit.TIME

    def _texts(self) -> Generator[tuple[_File, bytes], None, None]:
        """Files that may match, with line feeds as the only line ends."""
        with closing(documents(self._scope)) as found:
            for path, data in found:
                self._scope.check_time()
                binary = is_binary(data)
                if not binary or len(data) <= MOST_BINARY:
                    yield _File(path, binary), data.replace(b"\r\n", b"\n") if b"\r" in data else data


def _in_turn(
    pattern: Pattern, helpers: Helpers[_File], texts: Iterator[tuple[_File, bytes]], limit: int
) -> Iterator[tuple[_File, bytes, list[Hit]]]:
    """Look into one text after the other; only those with very long lines are given to a helper."""
    find = pattern.finder.hits
    for file, text in texts:
        if pattern.repeats and has_long_line(text):
            yield from helpers.hits([(file, text)])
        else:
            yield file, text, find(text, limit)


def search(
    objects: Objects, tree: ObjectId, query: Query, *, pending: Mapping[str, Pending | None] = _NOTHING
) -> SearchResult:
    """Look for `query` in the files of `tree` as `pending` changes them.

    What is found never depends on what is cached. `InvalidQuery` is raised here, before anything is read.
    """
    query = query.checked()
    pattern = pattern_of(query)
    accepts = globs.accepting(query.include, query.exclude)
    deadline = time.monotonic() + query.max_seconds
    scope = Scope(objects, tree, pending, pattern.literals, accepts, query.max_file_bytes, deadline)
    return SearchResult(scope, pattern, query)
