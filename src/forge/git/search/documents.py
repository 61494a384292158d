"""The files a search has to look into, with their contents, in the order of their paths."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from forge.git.objects import trees
from forge.git.objects.contents import Contents
from forge.git.search import blob_reader, grep
from forge.git.search.blob_lists import listing
from forge.git.search.blob_text import cache_of
from forge.git.search.query import TimeUp
from forge.git.search.segments import Window
from forge.git.search.texts import Texts, texts_of

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.search.literals import Literals
    from forge.git.values import ObjectId
    from forge.git.workspace.pending import Pending

_TOGETHER, _MOST_TOGETHER = 64, 2048
_TYPE_BITS, _REGULAR = 0o170000, 0o100000


class Document(NamedTuple):
    path: str
    data: bytes


Documents = Generator[Document, None, None]


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to look, and what a file must have to be looked into."""

    objects: Objects
    tree: ObjectId
    pending: Mapping[str, Pending | None]
    literals: Literals
    accepts: Callable[[str], bool] | None
    most_bytes: int
    deadline: float
    too_large: list[str] = field(default_factory=list)
    """Collects what is left out because of its size."""

    def wants(self, path: str) -> bool:
        return path not in self.pending and (self.accepts is None or self.accepts(path))

    def check_time(self) -> None:
        if time.monotonic() > self.deadline:
            raise TimeUp


def documents(scope: Scope) -> Documents:
    """Every file that may match, base and pending changes as one tree."""
    changed = _from_pending(scope, _changed(scope))
    with ExitStack() as stack:
        # While nothing is cached git will be asked in the end: it can begin before the files are listed.
        cold = scope.accepts is None and cache_of(scope.objects).is_empty()
        found = stack.enter_context(_asked(scope)) if cold else None
        texts = texts_of(scope.objects, scope.tree, scope.literals)
        base = stack.enter_context(closing(_from_git(scope, found) if texts is None else _from_cache(scope, texts)))
        yield from merge(base, changed, key=_order) if scope.pending else base


def _order(document: Document) -> bytes:
    return trees.encode(document.path)


def _changed(scope: Scope) -> list[tuple[str, Pending]]:
    """Pending files to be searched, in git's order."""
    contents = Contents(scope.objects)
    found: list[tuple[str, Pending]] = []
    for path, file in sorted(scope.pending.items(), key=lambda item: trees.encode(item[0])):
        if file is None or file.mode & _TYPE_BITS != _REGULAR:
            continue
        if scope.accepts is None or scope.accepts(path):
            size = len(file.data) if file.data is not None else contents.size(file.entry)
            if size > scope.most_bytes:
                scope.too_large.append(path)
            else:
                found.append((path, file))
    return found


def _from_pending(scope: Scope, changed: list[tuple[str, Pending]]) -> Documents:
    may_match = scope.literals.test()
    for path, file in changed:
        data = file.data if file.data is not None else scope.objects.blob(file.id)
        if may_match(data):
            yield Document(path, data)


def _from_cache(scope: Scope, texts: Texts) -> Documents:
    folder = listing(scope.objects, scope.tree)
    ids, large, possible = folder.ids, texts.larger(scope.most_bytes), texts.possible
    if large:
        found = folder.located([place for place, oid in enumerate(ids) if oid in large])
        scope.too_large.extend(path for path, _ in found if scope.wants(path))
    places: Sequence[int] = range(len(ids))
    if possible is not None:
        places = [place for place, oid in enumerate(ids) if oid in possible]
    may_match = scope.literals.test()
    window = Window()
    for start in range(0, len(places), _TOGETHER):
        scope.check_time()
        # A text is read more quickly than its path is put together.
        kept, contents = [], []
        for place in places[start : start + _TOGETHER]:
            if ids[place] not in large:
                data = texts.text(ids[place], window)
                if data is not None and may_match(data):
                    kept.append(place)
                    contents.append(data)
        for (path, _), data in zip(folder.located(kept), contents, strict=True):
            if scope.wants(path):
                yield Document(path, data)


def _asked(scope: Scope) -> AbstractContextManager[Iterator[str] | None]:
    """Paths of the files that may match, as git finds them; None when git cannot tell."""
    strings = grep.strings_for_git(scope.literals)
    return grep.looking(scope.objects, scope.tree, strings, folded=scope.literals.folded) if strings else nullcontext()


def _from_git(scope: Scope, found: Iterator[str] | None) -> Documents:
    folder = listing(scope.objects, scope.tree)
    files = [file for file in folder.files() if scope.wants(file[0])]
    with ExitStack() as stack:
        # git looks into every file; when few are wanted, reading those is less.
        if found is None and len(files) * 3 > len(folder.ids):
            found = stack.enter_context(_asked(scope))
        files = _small_enough(scope, files)
        if found is None:
            yield from _read(scope, files)
            return
        ids = dict(files)
        chosen = ((path, ids[path]) for path in found if path in ids)
        together = _TOGETHER
        while some := list(islice(chosen, together)):
            yield from _read(scope, some)
            # The first are wanted soon; of many, more at a time cost less each.
            together = min(2 * together, _MOST_TOGETHER)


def _small_enough(scope: Scope, files: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    ids = list({oid for _, oid in files})
    large = {
        oid for oid, size in zip(ids, blob_reader.sizes(scope.objects, ids), strict=True) if size > scope.most_bytes
    }
    scope.too_large.extend(path for path, oid in files if oid in large)
    return [file for file in files if file[1] not in large] if large else files


def _read(scope: Scope, files: list[tuple[str, bytes]]) -> Documents:
    may_match = scope.literals.test()
    with closing(blob_reader.contents(scope.objects, [oid for _, oid in files])) as contents:
        for (path, _), data in zip(files, contents, strict=True):
            scope.check_time()
            if may_match(data):
                yield Document(path, data)
