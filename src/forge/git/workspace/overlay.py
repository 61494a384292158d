"""Which folders pending changes touch, kept as they come so that no look-up walks all of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from forge.git.workspace.paths import folded


class Overlay:
    def __init__(self) -> None:
        self._names: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._live: Counter[str] = Counter()
        self._deleted: Counter[str] = Counter()
        self._spellings: defaultdict[tuple[str, str], set[str]] = defaultdict(set)

    def add(self, path: str, *, live: bool) -> None:
        for folder, name in _steps(path):
            self._names[folder][name] += 1
            (self._live if live else self._deleted)[folder] += 1
            if live:
                self._spellings[folder, folded(name)].add(name)

    def remove(self, path: str, *, live: bool) -> None:
        for folder, name in _steps(path):
            self._names[folder][name] -= 1
            (self._live if live else self._deleted)[folder] -= 1

    def touched(self, folder: str) -> bool:
        """Whether something below `folder` is pending."""
        return self.live(folder) or self.deleted(folder) > 0

    def live(self, folder: str) -> bool:
        """Whether a pending file is below `folder`."""
        return self._live[folder] > 0

    def deleted(self, folder: str) -> int:
        return self._deleted[folder]

    def names(self, folder: str) -> set[str]:
        return {name for name, count in self._names[folder].items() if count > 0}

    def spellings(self, folder: str, same: str) -> frozenset[str]:
        """Names written so far that fold to `same`; some may be gone again."""
        return frozenset(self._spellings[folder, same])


def _steps(path: str) -> Iterator[tuple[str, str]]:
    """Each folder above `path`, with the name in it that leads there."""
    parts = path.split("/")
    for depth, name in enumerate(parts):
        yield "/".join(parts[:depth]), name
