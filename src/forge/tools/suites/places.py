"""Where a test failed: a file of the repository and a line in it, out of reports and stack traces."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from forge.git import VFS
from forge.tools.suites.cases import Case, Result

if TYPE_CHECKING:
    from forge.tools.suites.combined import CombinedRun
    from forge.tools.suites.outcome import TestRun

_PLACE = re.compile(
    r"((?:file://)?[\w./@+-]+\.(?:py|m?[jt]s|c[jt]s|[jt]sx|go|rs|java|kt|scala|groovy|rb|php|c|cc|cpp|cxx|h|hpp|swift|exs?))"
    r"(?:\", line |:|\()(\d{1,7})\b"
)
_FOREIGN = re.compile(r"(^|/)(node_modules|site-packages|dist-packages|vendor|internal)/|^(/usr|/opt|/lib|/nix|node:)")
_MOST = 2_000
"""Failures that are looked up; more are not read one by one by anybody."""


def by_path(done: CombinedRun, vfs: VFS) -> CombinedRun:
    """The same run; a file that could not be loaded has the path that the repository has, wherever the run was."""
    if not done.broken:
        return done
    files = _Files(vfs)
    paths = {each.name: files.find(each.file or each.name, "") or each.name for each in done.cases if each.broken}

    def renamed(run: TestRun) -> TestRun:
        return replace(
            run,
            cases=tuple(replace(each, name=paths[each.name]) if each.broken else each for each in run.cases),
            results={paths.get(name, name): result for name, result in run.results.items()},
            missing=_with_paths(run.missing, paths),
        )

    return replace(done, runs=tuple(renamed(run) for run in done.runs))


def _with_paths(text: str, paths: Mapping[str, str]) -> str:
    for name, path in paths.items():
        text = text.replace(f"`{name}`", f"`{path}`")
    return text


def placed(found: Iterable[Case], vfs: VFS) -> tuple[Case, ...]:
    """The same tests, with places that the repository has. A place outside of it is none."""
    files = _Files(vfs)
    return tuple(
        _placed(each, files) if number < _MOST else replace(each, file="", line=0)
        for number, each in enumerate(sorted(found, key=lambda each: each.result is not Result.FAILED))
    )


def _placed(case: Case, files: _Files) -> Case:
    own = files.find(case.file, case.name) if case.file else ""
    if case.result is not Result.FAILED:
        return replace(case, file=own, line=case.line if own else 0)
    named = [(files.find(path, case.name), line) for path, line in _places(case.message)]
    # Python tells the innermost call last, all others tell it first.
    ordered = [*reversed(named)] if own.endswith(".py") or "line " in case.message else named
    in_test = next(((path, line) for path, line in ordered if path and path == own), None)
    anywhere = next(((path, line) for path, line in ordered if path), None) if not own else None
    path, line = in_test or anywhere or (own, case.line if own else 0)
    return replace(case, file=path, line=line)


def _places(text: str) -> Iterator[tuple[str, int]]:
    for found in _PLACE.finditer(text):
        path = found[1].removeprefix("file://")
        if not _FOREIGN.search(path):
            yield path, int(found[2])


class _Files:
    """Files of a branch, found by what a runner calls them: absolute, relative, or the bare name."""

    def __init__(self, vfs: VFS) -> None:
        self._vfs = vfs
        self._by_base: dict[str, list[str]] | None = None

    def find(self, path: str, owner: str) -> str:
        path = path.removeprefix("./")
        if not path or _FOREIGN.search(path):
            return ""
        parts = path.strip("/").split("/")
        tails = ("/".join(parts[start:]) for start in range(len(parts)))
        if exact := next((tail for tail in tails if self._is_file(tail)), ""):
            return exact
        same = [each for each in self._named(parts[-1]) if each.endswith(f"/{path}")]
        # A package tells apart files of one name: `example.org/app/parser::TestX`, `org.example.ParserTest::x`.
        return same[0] if len(same) == 1 else max(same, key=partial(_shared, owner), default="")

    def _is_file(self, path: str) -> bool:
        return path in self._named(path.rpartition("/")[2])

    def _named(self, base: str) -> list[str]:
        if self._by_base is None:
            self._by_base = defaultdict(list)
            for path in self._vfs.list_files():
                self._by_base[path.rpartition("/")[2]].append(path)
        return self._by_base.get(base, [])


def _shared(owner: str, path: str) -> int:
    words = re.split(r"[./:]+", owner)
    return sum(1 for folder in path.split("/")[:-1] if folder in words)
