"""Which deleted file a new one was made from: git's way of pairing, by equal content, then by shared lines."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from operator import itemgetter
from stat import S_ISREG
from typing import NamedTuple

from forge.git.objects.contents import MAX_TEXT, Contents
from forge.git.values import Entry, ObjectId

# git compares up to 1,000 × 1,000 files; beyond its own limit it pairs only equal ones, as we do.
MAX_PAIRS = 500 * 500
MAX_BYTES = 256 << 20

_ENOUGH = 0.5
_ENOUGH_BY_NAME = 0.75
_CANDIDATES = 4

# A line, or 64 bytes where lines are longer.
_SPAN = re.compile(rb"[^\n]{0,63}\n|[^\n]{64}|[^\n]+")

File = tuple[str, Entry]
Spans = Mapping[bytes, int]


class Source(NamedTuple):
    """Where a new file came from."""

    path: str
    entry: Entry
    score: float

    @property
    def percent(self) -> int:
        return int(self.score * 100)


def sources(
    contents: Contents, old: Sequence[File], new: Sequence[File], *, copies: bool = False, lasting: Iterable[str] = ()
) -> dict[str, Source]:
    """By path of a new file the old file it continues.

    With `copies` an old file may serve several times, those that are `lasting` where no deleted one does.
    """
    search = _Search(contents, old, new, copies=copies, used=set(lasting))
    search.pair_equal()
    if len(search.free_old()) * len(search.free_new()) <= MAX_PAIRS and search.is_affordable():
        if not copies:
            search.pair_by_name()
        search.pair_by_lines()
    return search.found


class _Search:
    def __init__(
        self, contents: Contents, old: Sequence[File], new: Sequence[File], *, copies: bool, used: set[str]
    ) -> None:
        self.contents = contents
        self.old = old
        self.new = new
        self.copies = copies
        self.used = used
        self.found: dict[str, Source] = {}
        self._spans: dict[ObjectId, Spans] = {}
        self._sizes: dict[ObjectId, int] = {}

    def free_old(self) -> list[File]:
        """Regular files that may still be a source."""
        return [f for f in self.old if S_ISREG(f[1].mode) and (self.copies or f[0] not in self.used)]

    def free_new(self) -> list[File]:
        return [f for f in self.new if S_ISREG(f[1].mode) and f[0] not in self.found]

    def is_affordable(self) -> bool:
        sizes = (self._size(entry) for _, entry in (*self.free_old(), *self.free_new()))
        return sum(size for size in sizes if size <= MAX_TEXT) <= MAX_BYTES

    def pair_equal(self) -> None:
        same: defaultdict[ObjectId, list[File]] = defaultdict(list)
        for file in self.old:
            same[file[1].id].append(file)
        for path, entry in self.new:
            usable = [
                file
                for file in same.get(entry.id, ())
                if (self.copies or file[0] not in self.used) and _same_type(file[1], entry)
            ]
            if usable:
                unused_and_named_alike = [(f[0] not in self.used) + (_name(f[0]) == _name(path)) for f in usable]
                best = unused_and_named_alike.index(max(unused_and_named_alike))
                self._pair(usable[best], path, 1.0)

    def pair_by_name(self) -> None:
        """A file that only moved keeps its name; where names are unique that spares comparing all with all."""
        old, new = _unique_names(self.free_old()), _unique_names(self.free_new())
        for name, target in new.items():
            source = old.get(name)
            if source:
                score = self._score(source[1], target[1])
                if score >= _ENOUGH_BY_NAME:
                    self._pair(source, target[0], score)

    def pair_by_lines(self) -> None:
        old, new = self.free_old(), self.free_new()
        if not old or not new:
            return
        holders: defaultdict[bytes, list[tuple[int, int]]] = defaultdict(list)
        for place, (_, entry) in enumerate(old):
            for span, weight in self._spans_of(entry).items():
                holders[span].append((place, weight))
        candidates: list[tuple[float, bool, File, str]] = []
        for path, entry in new:
            shared: Counter[int] = Counter()
            for span, weight in self._spans_of(entry).items():
                for place, other in holders.get(span, ()):
                    shared[place] += min(weight, other)
            rated = [
                (self._ratio(common, old[place][1], entry), _name(old[place][0]) == _name(path), old[place], path)
                for place, common in sorted(shared.items())
            ]
            candidates += nlargest(_CANDIDATES, rated, key=itemgetter(0, 1))
        candidates.sort(key=itemgetter(0, 1), reverse=True)
        self._take(candidates, again=False)
        if self.copies:
            self._take(candidates, again=True)

    def _take(self, candidates: Iterable[tuple[float, bool, File, str]], *, again: bool) -> None:
        for score, _, source, path in candidates:
            if score >= _ENOUGH and path not in self.found and (again or source[0] not in self.used):
                self._pair(source, path, score)

    def _pair(self, source: File, path: str, score: float) -> None:
        self.used.add(source[0])
        self.found[path] = Source(*source, score)

    def _score(self, old: Entry, new: Entry) -> float:
        there = self._spans_of(new)
        common = sum(min(weight, there.get(span, 0)) for span, weight in self._spans_of(old).items())
        return self._ratio(common, old, new)

    def _ratio(self, common: int, old: Entry, new: Entry) -> float:
        return common / max(self._size(old), self._size(new), 1)

    def _size(self, entry: Entry) -> int:
        known = self._sizes.get(entry.id)
        if known is None:
            known = self._sizes[entry.id] = self.contents.size(entry)
        return known

    def _spans_of(self, entry: Entry) -> Spans:
        known = self._spans.get(entry.id)
        if known is None:
            data = self.contents.data(entry) if self._size(entry) <= MAX_TEXT else b""
            if not self.contents.is_binary(entry):
                data = data.replace(b"\r\n", b"\n")
            known = {span: len(span) * count for span, count in Counter(_SPAN.findall(data)).items()}
            self._spans[entry.id] = known
        return known


def _same_type(old: Entry, new: Entry) -> bool:
    return old.mode == new.mode or (S_ISREG(old.mode) and S_ISREG(new.mode))


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _unique_names(files: Iterable[File]) -> dict[str, File]:
    by_name: defaultdict[str, list[File]] = defaultdict(list)
    for file in files:
        by_name[_name(file[0])].append(file)
    return {name: same[0] for name, same in by_name.items() if len(same) == 1}
