"""The files a search has to look into, with their contents, in the order of their paths."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from forge.git import trees
from forge.git.contents import Contents
from forge.git.objects import Objects
from forge.git.search import grep
from forge.git.search.blob_reader import BlobReader, sizes
from forge.git.search.listing import listing
from forge.git.search.literals import Literals
from forge.git.search.segments import Window
from forge.git.search.texts import Texts, texts_of
from forge.git.values import ObjectId

if TYPE_CHECKING:
    from forge.git.workspace import Pending

_TOGETHER = 32
_TYPE_BITS, _REGULAR = 0o170000, 0o100000


class Document(NamedTuple):
    path: str
    data: bytes


Documents = Generator[Document, None, None]


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to look. `too_large` collects what is left out because of its size."""

    objects: Objects
    tree: ObjectId
    literals: Literals
    accepts: Callable[[str], bool] | None
    pending: Mapping[str, Pending | None]
    most_bytes: int
    too_large: list[str] = field(default_factory=list)

    def wants(self, path: str) -> bool:
        return path not in self.pending and (self.accepts is None or self.accepts(path))


def documents(scope: Scope) -> Documents:
    """Every file that may match, base and pending changes as one tree."""
    changed = _from_pending(scope, _changed(scope))
    texts = texts_of(scope.objects, scope.tree, scope.literals)
    with closing(_from_git(scope) if texts is None else _from_cache(scope, texts)) as base:
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
    for path, file in changed:
        yield Document(path, file.data if file.data is not None else scope.objects.blob(file.id))


def _from_cache(scope: Scope, texts: Texts) -> Documents:
    folder = listing(scope.objects, scope.tree)
    large, possible = texts.larger(scope.most_bytes), texts.possible
    places = [place for place, oid in enumerate(folder.ids) if oid in large] if large else []
    scope.too_large.extend(path for path, _ in folder.located(places) if scope.wants(path))
    if possible is None:
        places = list(range(len(folder.ids)))
    else:
        places = [place for place, oid in enumerate(folder.ids) if oid in possible]
    window = Window()
    for path, oid in folder.located(places):
        if oid not in large and scope.wants(path):
            data = texts.text(oid, window)
            if data is not None:
                yield Document(path, data)


def _from_git(scope: Scope) -> Documents:
    folder = listing(scope.objects, scope.tree)
    files = [(path, oid) for path, oid in folder.located(range(len(folder.ids))) if scope.wants(path)]
    ids = list({oid for _, oid in files})
    large = {oid for oid, size in zip(ids, sizes(scope.objects, ids), strict=True) if size > scope.most_bytes}
    scope.too_large.extend(path for path, oid in files if oid in large)
    files = [file for file in files if file[1] not in large]
    strings = grep.strings_for_git(scope.literals)
    # git would look into every file; when most are not wanted, reading the wanted ones is less.
    if strings and len(files) * 3 > len(folder.ids):
        yield from _found_by_git(scope, dict(files), strings)
        return
    with BlobReader(scope.objects) as reader, closing(reader.contents(oid for _, oid in files)) as contents:
        for (path, _), data in zip(files, contents, strict=True):
            yield Document(path, data)


def _found_by_git(scope: Scope, files: dict[str, bytes], strings: Sequence[bytes]) -> Documents:
    found = grep.paths_with(scope.objects, scope.tree, strings, folded=scope.literals.folded)
    with closing(found), BlobReader(scope.objects) as reader:
        while paths := list(islice((path for path in found if path in files), _TOGETHER)):
            for path, data in zip(paths, reader.contents(files[path] for path in paths), strict=True):
                yield Document(path, data)
