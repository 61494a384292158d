"""Files that are not named one by one: how many of which kind there are in each folder."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from forge.context.kinds import ending
from forge.context.summaries import printable
from forge.counts import counted

_ENDINGS = 4
_MANY = 200


@dataclass(slots=True)
class Folder:
    path: str
    files: int = 0
    """Left out below here."""
    loose: int = 0
    """Of these, how many were left out for want of room and not by rule."""
    named: bool = False
    """Whether a file below here is named elsewhere, so that this is not all of the folder."""
    own: Counter[str] = field(default_factory=Counter)
    below: dict[str, Folder] = field(default_factory=dict)


def counts(left_out: Iterable[str], named: Iterable[str], *, most: int, excluded: Iterable[str] = ()) -> list[str]:
    """At most `most` lines, `src/vendor/ — 1,204 files (js 1,100, css 104)`, the largest folders opened first.

    Folders of which nothing is named are opened only where many files are left out, and never if all are excluded.
    """
    root = folder_tree(left_out, named, excluded)
    many = max(_MANY, root.files // 8)
    return _opened(root, most, lambda folder, _: folder.named or folder.loose > many)


def folder_map(root: Folder, *, most: int) -> list[str]:
    """At most `most` lines for all folders, shared by how many files each has: no folder is opened at others' cost."""
    fair = 2 * most / max(root.files, 1)
    return _opened(
        root, most, lambda folder, inner: not folder.path or (bool(folder.loose) and inner <= fair * folder.files)
    )


def _opened(root: Folder, most: int, may: Callable[[Folder, int], bool]) -> list[str]:
    if not root.files or most <= 0:
        return []
    shown = {root.path: root}
    waiting = [(-root.files, "", root)] if root.below else []
    while waiting:
        _, _, folder = heapq.heappop(waiting)
        inner = [child for child in folder.below.values() if child.files]
        if not may(folder, len(inner)):
            continue
        room = most - len(shown) + 1 - bool(folder.own)
        if len(inner) > room:
            if folder.path or room < 2:
                continue
            inner = _with_rest_joined(inner, room)
        del shown[folder.path]
        if folder.own:
            shown[folder.path] = Folder(folder.path, sum(folder.own.values()), named=folder.named, own=folder.own)
        shown |= {child.path: child for child in inner}
        for child in inner:
            if child.below:
                heapq.heappush(waiting, (-child.files, child.path, child))
    return [
        _line(folder)
        for folder in sorted(shown.values(), key=lambda folder: (folder.path.startswith("("), folder.path))
    ]


def _with_rest_joined(folders: Sequence[Folder], room: int) -> list[Folder]:
    """The largest, and one that stands for all others."""
    ordered = sorted(folders, key=lambda folder: (-folder.files, folder.path))
    rest = ordered[room - 1 :]
    joined = Folder(f"({len(rest):,} other folders)", sum(folder.files for folder in rest))
    joined.own = sum((_endings(folder) for folder in rest), Counter())
    return [*ordered[: room - 1], joined]


def folder_tree(left_out: Iterable[str], named: Iterable[str], excluded: Iterable[str]) -> Folder:
    """The root, with all folders that hold any of these files below it."""
    by_path: dict[str, Folder] = {"": Folder("", named=True)}
    for paths, loose in ((left_out, True), (excluded, False)):
        for path, own in sorted(_per_folder(paths).items()):
            _folder(by_path, path).own.update(own)
            files = sum(own.values())
            for above in upwards(path):
                by_path[above].files += files
                by_path[above].loose += files if loose else 0
    for path in {path.rpartition("/")[0] for path in named}:
        for above in upwards(path):
            if above in by_path:
                by_path[above].named = True
    return by_path[""]


def _per_folder(paths: Iterable[str]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for path in paths:
        endings = found.setdefault(path[: max(path.rfind("/"), 0)], {})
        last = ending(path) or "other"
        endings[last] = endings.get(last, 0) + 1
    return found


def upwards(path: str) -> Iterator[str]:
    """The folder and those above it, up to the root, which is the empty path."""
    while path:
        yield path
        path = path.rpartition("/")[0]
    yield ""


def _folder(by_path: dict[str, Folder], path: str) -> Folder:
    missing = list(takewhile(lambda above: above not in by_path, upwards(path)))
    for above in reversed(missing):
        by_path[above] = Folder(above)
        outer, _, name = above.rpartition("/")
        by_path[outer].below[name] = by_path[above]
    return by_path[path]


def _endings(folder: Folder) -> Counter[str]:
    total: Counter[str] = Counter()
    waiting = [folder]
    while waiting:
        each = waiting.pop()
        total.update(each.own)
        waiting += each.below.values()
    return total


def _line(folder: Folder) -> str:
    ordered = sorted(_endings(folder).items(), key=lambda item: (-item[1], item[0]))
    parts = [f"{name} {count:,}" for name, count in ordered[:_ENDINGS]]
    rest = sum(count for _, count in ordered[_ENDINGS:])
    if rest:
        parts.append(f"and {counted(rest, 'other')}")
    more = "more " if folder.named else ""
    where = "./" if not folder.path else folder.path if folder.path.startswith("(") else f"{printable(folder.path)}/"
    return f"{where} — {folder.files:,} {more}file{'s' if folder.files != 1 else ''} ({', '.join(parts)})"
