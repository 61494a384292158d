"""Which command runs a repository's tests, and what its output says: how many passed, which failed first."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from forge.git import VFS, NotText
from forge.tools.rendering import clipped, lines_of

_LOOKED_INTO = 30
_NO_NPM_TESTS = "no test specified"


@dataclass(frozen=True, slots=True)
class Suite:
    """A way to run tests that the repository shows."""

    command: str
    because: str


@dataclass(frozen=True, slots=True)
class Counts:
    passed: int
    failed: int
    skipped: int = 0


def suites(vfs: VFS) -> tuple[Suite, ...]:
    """Every way found, the likeliest first."""
    ways: tuple[Callable[[VFS], Suite | None], ...] = (_pytest, _unittest, _npm, _go, _cargo, _make)
    return tuple(suite for way in ways if (suite := way(vfs)) is not None)


def _text(vfs: VFS, path: str) -> str:
    if not vfs.file_exists(path):
        return ""
    try:
        return vfs.read_file(path)
    except NotText:
        return ""


def _test_files(vfs: VFS) -> list[str]:
    return [path for path in vfs.list_files() if re.search(r"(^|/)(test_[^/]*|[^/]*_test|tests?)\.py\Z", path)]


def _pytest(vfs: VFS) -> Suite | None:
    marks = (("pytest.ini", ""), ("pyproject.toml", "pytest"), ("tox.ini", "[pytest]"), ("setup.cfg", "[tool:pytest]"))
    for path, mark in marks:
        if vfs.file_exists(path) and mark in _text(vfs, path):
            return Suite("python3 -m pytest -q", path)
    if vfs.file_exists("conftest.py") or vfs.file_exists("tests/conftest.py"):
        return Suite("python3 -m pytest -q", "conftest.py")
    for path in _test_files(vfs)[:_LOOKED_INTO]:
        text = _text(vfs, path)
        if re.search(r"^(import pytest|from pytest|(async )?def test_)", text, re.MULTILINE):
            return Suite("python3 -m pytest -q", path)
    return None


def _unittest(vfs: VFS) -> Suite | None:
    for path in _test_files(vfs)[:_LOOKED_INTO]:
        if "unittest" in _text(vfs, path):
            folder = path.rpartition("/")[0]
            where = f" -s {folder} -t ." if folder and vfs.file_exists(f"{folder}/__init__.py") else ""
            start = where or (f" -s {folder}" if folder else "")
            return Suite(f"python3 -m unittest discover{start}", path)
    return None


def _npm(vfs: VFS) -> Suite | None:
    try:
        scripts = json.loads(_text(vfs, "package.json") or "{}").get("scripts", {})
        script = scripts.get("test", "")
    except (ValueError, AttributeError, RecursionError):
        return None
    if not isinstance(script, str) or not script or _NO_NPM_TESTS in script:
        return None
    return Suite("npm test --silent", "package.json")


def _go(vfs: VFS) -> Suite | None:
    return Suite("go test ./...", "go.mod") if vfs.file_exists("go.mod") else None


def _cargo(vfs: VFS) -> Suite | None:
    return Suite("cargo test --offline", "Cargo.toml") if vfs.file_exists("Cargo.toml") else None


def _make(vfs: VFS) -> Suite | None:
    for path in ("Makefile", "makefile", "GNUmakefile"):
        if re.search(r"^test\s*:", _text(vfs, path), re.MULTILINE):
            return Suite("make test", path)
    return None


def counts(output: str) -> Counts | None:
    """How many tests passed and failed, where the output tells it in a known way."""
    for way in (_pytest_counts, _cargo_counts, _unittest_counts, _go_counts, _jest_counts, _mocha_counts):
        if (found := way(output)) is not None:
            return found
    return None


def _number(text: str, word: str) -> int:
    found = re.search(rf"(\d+) {word}", text)
    return int(found[1]) if found else 0


def _pytest_counts(output: str) -> Counts | None:
    for line in reversed(lines_of(output)):
        plain = line.strip("= ")
        if re.match(r"\d+ (passed|failed|error|skipped|xfailed|xpassed|deselected|warning)", plain) and " in " in plain:
            return Counts(
                _number(plain, "passed") + _number(plain, "xfailed"),
                _number(plain, "failed") + _number(plain, "error"),
                _number(plain, "skipped"),
            )
    return None


def _unittest_counts(output: str) -> Counts | None:
    ran = re.search(r"^Ran (\d+) tests? in", output, re.MULTILINE)
    if not ran:
        return None
    end = re.search(r"^(?:OK|FAILED)(?: \((.*)\))?$", output[ran.end() :], re.MULTILINE)
    said = dict(re.findall(r"(\w+)=(\d+)", end[1] or "")) if end else {}
    failed = int(said.get("failures", 0)) + int(said.get("errors", 0))
    skipped = int(said.get("skipped", 0))
    return Counts(max(0, int(ran[1]) - failed - skipped), failed, skipped)


def _cargo_counts(output: str) -> Counts | None:
    found = re.findall(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", output, re.MULTILINE)
    if not found:
        return None
    passed, failed, ignored = (sum(map(int, column)) for column in zip(*found, strict=True))
    return Counts(passed, failed, ignored)


def _go_counts(output: str) -> Counts | None:
    """Go names tests only when they fail; packages are counted instead."""
    good = re.findall(r"^ok\s+\S+", output, re.MULTILINE)
    bad = re.findall(r"^FAIL\s+\S+", output, re.MULTILINE)
    return Counts(len(good), len(bad)) if good or bad else None


def _jest_counts(output: str) -> Counts | None:
    found = re.search(r"^\s*Tests:?\s+(.*\b(?:passed|failed|skipped|total)\b.*)$", output, re.MULTILINE)
    if not found:
        return None
    return Counts(_number(found[1], "passed"), _number(found[1], "failed"), _number(found[1], "skipped"))


def _mocha_counts(output: str) -> Counts | None:
    passing = re.search(r"^\s*(\d+) passing|^# pass (\d+)", output, re.MULTILINE)
    if not passing:
        return None
    failing = re.search(r"^\s*(\d+) failing|^# fail (\d+)", output, re.MULTILINE)
    return Counts(_first(passing), _first(failing) if failing else 0)


def _first(found: re.Match[str]) -> int:
    return int(next(group for group in found.groups() if group))


_FAILURES = re.compile(
    r"^(?:(?:FAILED|ERROR)\s+\S+.*"  # pytest's short summary
    r"|(?:FAIL|ERROR): .*"  # unittest
    r"|\s*--- FAIL: .*"  # go
    r"|test .* \.\.\. FAILED"  # cargo
    r"|\s*●.*"  # jest
    r"|\s*(?:✕|×|✗|✖) .*"  # jest, vitest, ava, node
    r"|not ok \d+.*)$"  # TAP
)


def failures(output: str, most: int) -> tuple[str, ...]:
    """The first lines that name a failed test, each once."""
    return tuple(dict.fromkeys(_named_failures(output)))[:most]


def _named_failures(output: str) -> Iterator[str]:
    for line in lines_of(output):
        if _FAILURES.match(line):
            yield clipped(line.strip(), 300)
