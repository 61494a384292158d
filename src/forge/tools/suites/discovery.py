"""Which test suites a repository has, found by reading its files. What a file merely mentions selects nothing."""

from __future__ import annotations

import ast
import configparser
import json
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from forge.git import VFS, NotText

_LOOKED_INTO = 200
_NO_NPM_TESTS = "no test specified"
_TEST_FILE = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|tests?)\.py\Z")
_NOT_OURS = re.compile(r"(^|/)(node_modules|vendor|third_party|\.tox|\.venv|venv|site-packages)/")


class Form(StrEnum):
    """How a runner tells what became of each test."""

    JUNIT = "junit"
    UNITTEST = "unittest"
    TAP = "tap"
    GO = "go"
    CARGO = "cargo"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Suite:
    """A way to run tests that the repository shows."""

    command: str
    because: str
    """The file that shows it."""
    form: Form = Form.TEXT
    report: str = ""
    """Words added to the command so that it tells of each test; `{file}` is where a report is written."""


def suites(vfs: VFS) -> tuple[Suite, ...]:
    """Every suite. A Makefile's `test` counts only where nothing else is found: it runs what the others are."""
    ways: tuple[Callable[[VFS], Suite | None], ...] = (_python, _npm, _go, _cargo, _maven, _gradle)
    found = tuple(suite for way in ways if (suite := way(vfs)) is not None)
    return found or tuple(filter(None, (_make(vfs),)))


def named(command: str) -> Suite:
    """A command that a person has set, told apart by the runner it names."""
    for runner, like in (
        (r"\bpytest\b", _PYTEST),
        (r"\bunittest\b", _UNITTEST),
        (r"\bgo test\b", _GO),
        (r"\bcargo test\b", _CARGO),
        (r"\bnode\b.*--test\b", _NODE),
    ):
        if re.search(runner, command):
            return Suite(command, "the test command that is set", like.form, like.report)
    return Suite(command, "the test command that is set")


_PYTEST = Suite("python3 -m pytest -q", "", Form.JUNIT, "--junitxml={file} -o junit_family=xunit2")
_UNITTEST = Suite("python3 -m unittest discover", "", Form.UNITTEST, "-v")
_GO = Suite("go test ./...", "go.mod", Form.GO, "-json")
_CARGO = Suite("cargo test --offline", "Cargo.toml", Form.CARGO)
_NODE = Suite("npm test --silent", "package.json", Form.TAP, "-- --test-reporter=tap")


def _text(vfs: VFS, path: str) -> str:
    if not vfs.file_exists(path):
        return ""
    try:
        return vfs.read_file(path)
    except NotText:
        return ""


def _python(vfs: VFS) -> Suite | None:
    because = _pytest_settings(vfs)
    if not because:
        for conftest in ("conftest.py", "tests/conftest.py", "test/conftest.py"):
            because = because or (conftest if vfs.file_exists(conftest) else "")
    unittest = ""
    for path in () if because else _test_files(vfs):
        match _runner_of(_text(vfs, path)):
            case "pytest":
                because = path
                break
            case "unittest":
                unittest = unittest or path
    if because:
        return Suite(_PYTEST.command, because, _PYTEST.form, _PYTEST.report)
    if not unittest:
        return None
    folder = unittest.rpartition("/")[0]
    top = " -t ." if folder and vfs.file_exists(f"{folder}/__init__.py") else ""
    start = f" -s {folder}{top}" if folder else ""
    return Suite(f"{_UNITTEST.command}{start}", unittest, _UNITTEST.form, _UNITTEST.report)


def _pytest_settings(vfs: VFS) -> str:
    if vfs.file_exists("pytest.ini") or vfs.file_exists(".pytest.ini"):
        return "pytest.ini"
    if "pytest" in _toml(_text(vfs, "pyproject.toml")).get("tool", {}):
        return "pyproject.toml"
    for path, section in (("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        if section in _sections(_text(vfs, path)):
            return path
    return ""


def _toml(text: str) -> dict[str, Any]:
    try:
        found = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    return found if isinstance(found.get("tool", {}), dict) else {}


def _sections(text: str) -> list[str]:
    parser = configparser.ConfigParser(strict=False, interpolation=None, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error:
        return []
    return parser.sections()


def _test_files(vfs: VFS) -> Iterator[str]:
    found = (path for path in vfs.list_files() if _TEST_FILE.search(path) and not _NOT_OURS.search(path))
    for _, path in zip(range(_LOOKED_INTO), found, strict=False):
        yield path


def _runner_of(source: str) -> str:
    """Which runner a test file is written for; empty where it defines no test."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    unittest = False
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if name.startswith("test"):
                return "pytest"
            case ast.Import(names=names) if any(each.name.split(".")[0] == "pytest" for each in names):
                return "pytest"
            case ast.ImportFrom(module=module) if (module or "").split(".")[0] == "pytest":
                return "pytest"
            case ast.ClassDef(name=name, bases=bases):
                if any(_name(base).endswith("TestCase") for base in bases):
                    unittest = True
                elif name.startswith("Test") and not bases and any(_is_test(each) for each in node.body):
                    return "pytest"
    return "unittest" if unittest else ""


def _is_test(node: ast.stmt) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _npm(vfs: VFS) -> Suite | None:
    try:
        script = json.loads(_text(vfs, "package.json") or "{}").get("scripts", {}).get("test", "")
    except (ValueError, AttributeError, RecursionError):
        return None
    if not isinstance(script, str) or not script or _NO_NPM_TESTS in script:
        return None
    if re.search(r"\bnode\b.*--test\b", script):
        return _NODE
    if re.search(r"\bjest\b", script):
        return Suite(_NODE.command, _NODE.because, Form.TEXT, "-- --verbose")
    if re.search(r"\bvitest\b", script):
        words = "-- --reporter=default --reporter=junit --outputFile.junit={file}"
        return Suite(_NODE.command, _NODE.because, Form.JUNIT, words)
    return Suite(_NODE.command, _NODE.because)


def _go(vfs: VFS) -> Suite | None:
    return _GO if vfs.file_exists("go.mod") else None


def _cargo(vfs: VFS) -> Suite | None:
    return _CARGO if vfs.file_exists("Cargo.toml") else None


def _maven(vfs: VFS) -> Suite | None:
    return Suite("mvn -q -o test", "pom.xml") if vfs.file_exists("pom.xml") else None


def _gradle(vfs: VFS) -> Suite | None:
    for path in ("build.gradle", "build.gradle.kts"):
        if vfs.file_exists(path):
            runner = "./gradlew" if vfs.file_exists("gradlew") else "gradle"
            return Suite(f"{runner} --offline test", path)
    return None


def _make(vfs: VFS) -> Suite | None:
    for path in ("Makefile", "makefile", "GNUmakefile"):
        if re.search(r"^test\s*:", _text(vfs, path), re.MULTILINE):
            return Suite("make test", path)
    return None
