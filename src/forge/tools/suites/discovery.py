"""Which test suites a repository has, found by reading its files. What a file merely mentions selects nothing."""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

from forge.git import VFS, NotText
from forge.tools.suites.projects import PROJECTS
from forge.tools.suites.runner import Form
from forge.tools.suites.suite import Suite, named, suite_of

__all__ = ["Form", "Suite", "named", "suites"]

_LOOKED_INTO = 200
_TEST_FILE = re.compile(r"(^|/)(test_[^/]*|[^/]*_test|tests?)\.py\Z")
_NOT_OURS = re.compile(r"(^|/)(node_modules|vendor|third_party|\.tox|\.venv|venv|site-packages)/")
_PYTEST = "python3 -m pytest -q"
_LIKE_PYTEST = re.compile(r"^(?:async )?def test|^(?:import|from) pytest\b", re.MULTILINE)
_UNITTEST = "python3 -m unittest discover"


def suites(vfs: VFS) -> tuple[Suite, ...]:
    """Every suite. A Makefile counts only where nothing else is found: its target runs what the others are."""
    ways: tuple[Callable[[VFS], Suite | None], ...] = (_python, *PROJECTS)
    found = tuple(suite for way in ways if (suite := way(vfs)) is not None)
    return found or tuple(filter(None, (_make(vfs),)))


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
        return suite_of("pytest", _PYTEST, because)
    if not unittest:
        return None
    folder = unittest.rpartition("/")[0]
    top = " -t ." if folder and vfs.file_exists(f"{folder}/__init__.py") else ""
    start = f" -s {folder}{top}" if folder else ""
    return suite_of("unittest", f"{_UNITTEST}{start}", unittest)


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
    except SyntaxError:
        # A runner says what is wrong with it; without one it would look as if there were no tests.
        return "pytest" if _LIKE_PYTEST.search(source) else "unittest" if "TestCase" in source else ""
    except (ValueError, RecursionError, MemoryError):
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


def _make(vfs: VFS) -> Suite | None:
    for path in ("Makefile", "makefile", "GNUmakefile", "Makefile.am"):
        target = re.search(r"^(test|check)\s*:(?!=)", _text(vfs, path), re.MULTILINE)
        if target and path != "Makefile.am":
            return Suite(f"make {target[1]}", path)
        if path == "Makefile.am" and vfs.file_exists(path) and vfs.file_exists("configure"):
            return Suite("./configure --quiet && make --silent check", path)
    return None
