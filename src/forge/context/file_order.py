"""Which files of a branch come first in an overview: named by the message, near active ones, some of every folder."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, takewhile

from forge.context.folders import upwards
from forge.context.kinds import Role, kind_of
from forge.context.summaries import File

Folders = dict[str, list[File]]
"""Files by the path of their folder; that of the root is empty."""

_MOST_NEAR = 64
_MOST_CALLED = 24
_MOST_BESIDE = 24
_MOST_WORDS = 64
_COMMON = 50
"""A word in the names of more files than this, and of more than a hundredth of them, tells nothing."""
_PART = re.compile(r"[^\W\d_]+|\d+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LEAST_WORD = 3
_LEVELS = 6
"""Of folders that get a turn of their own; what is deeper belongs to the one above."""


def words_of(text: str) -> tuple[str, ...]:
    """The words of a message that could be parts of names, each once."""
    found = (word for word in _parts(text) if word.isdigit() or len(word) >= _LEAST_WORD)
    return tuple(sorted(islice(dict.fromkeys(found), _MOST_WORDS)))


def ordered(folders: Folders, near: Sequence[str], words: Sequence[str]) -> Iterator[File]:
    """All files, each once: those that `words` name, those beside `near`, then some of every folder; assets last."""
    seen: set[str] = set()
    beside = islice(_beside(folders, near), _MOST_BESIDE)
    for file in chain(_called(folders, words), beside, _by_turns(folders)):
        if file[0] not in seen:
            seen.add(file[0])
            yield file


def _called(folders: Folders, words: Sequence[str]) -> list[File]:
    """Files whose names have the rarest of the words."""
    if not words:
        return []
    wanted = set(words)
    found: list[tuple[File, set[str]]] = []
    often: Counter[str] = Counter()
    for folder, files in folders.items():
        above = wanted.intersection(_parts(folder))
        for file in files:
            of_name = wanted.intersection(_parts(file[0].rpartition("/")[2]))
            often.update(of_name | above)
            if of_name:
                found.append((file, of_name | above))
    common = max(_COMMON, sum(map(len, folders.values())) // 100)
    weighed = [(sum(1 / often[word] for word in has if often[word] <= common), file) for file, has in found]
    told = sorted((-weight, file[0], file) for weight, file in weighed if weight)
    return [file for _, _, file in told[:_MOST_CALLED]]


def _beside(folders: Folders, near: Sequence[str]) -> Iterator[File]:
    """Files by the distance of their folders to those of `near`."""
    starts = {path.rpartition("/")[0] for path in near[-_MOST_NEAR:]} & folders.keys()
    if not starts:
        return
    distance = _distances(folders.keys(), starts)
    for folder in sorted(folders, key=lambda path: (distance[path], path.count("/") + bool(path), path)):
        yield from (file for role, file in _by_role(folders[folder]) if role < Role.ASSET)


def _by_turns(folders: Folders) -> Iterator[File]:
    """One file of each folder in turn, level by level, so that a large folder takes no more room than a small one."""
    visible: Folders = {}
    hidden: Folders = {}
    for folder, files in folders.items():
        rings = hidden if folder.startswith(".") or "/." in folder else visible
        rings.setdefault("/".join(folder.split("/", _LEVELS)[:_LEVELS]), []).extend(files)
    assets: list[File] = []
    for rings in (visible, hidden):
        below: dict[str, list[str]] = {}
        for folder in sorted({above for ring in rings for above in upwards(ring)} - {""}):
            below.setdefault(folder.rpartition("/")[0], []).append(folder)
        yield from _in_turn("", rings, below, assets)
    yield from assets


def _in_turn(folder: str, folders: Folders, below: dict[str, list[str]], assets: list[File]) -> Iterator[File]:
    rings = deque([_own(folders.get(folder, ()), assets)])
    rings.extend(_in_turn(inner, folders, below, assets) for inner in below.get(folder, ()))
    while rings:
        ring = rings.popleft()
        file = next(ring, None)
        if file is not None:
            rings.append(ring)
            yield file


def _own(files: Iterable[File], assets: list[File]) -> Iterator[File]:
    for role, file in _by_role(files):
        if role >= Role.ASSET:
            assets.append(file)
        else:
            yield file


def _by_role(files: Iterable[File]) -> list[tuple[Role, File]]:
    """Source before settings, then by path; files that mark a package, and are mostly empty, after the others."""
    roles = ((kind_of(file[0]).role, file) for file in files)
    return sorted(roles, key=lambda item: (item[0], item[1][0].endswith("__init__.py"), item[1][0]))


def _parts(text: str) -> list[str]:
    """`OrderBook_v2.py` is order, book, v, 2 and py."""
    return [part.lower() for word in _PART.findall(text) for part in _HUMP.split(word)]


def _distances(folders: Iterable[str], starts: set[str]) -> dict[str, int]:
    """Steps from each folder to the nearest of `starts`."""
    every = {""}
    for folder in folders:
        every.update(takewhile(lambda above: above not in every, upwards(folder)))
    far = len(every) + 1
    steps = {folder: 0 if folder in starts else far for folder in every}
    downwards = sorted(every, key=lambda folder: (folder.count("/") + bool(folder), folder))
    for folder in reversed(downwards):
        if folder:
            above = folder.rpartition("/")[0]
            steps[above] = min(steps[above], steps[folder] + 1)
    for folder in downwards:
        if folder:
            steps[folder] = min(steps[folder], steps[folder.rpartition("/")[0]] + 1)
    return steps
