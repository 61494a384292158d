"""Who may import whom among tests, their helpers and the benchmarks: shared code lives in `tests/support`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.machine import ROOT


def imported(file: Path) -> Iterator[str]:
    """Every name that a file imports, with its module: `from tests.git import worlds` is `tests.git.worlds`."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        match node:
            case ast.Import(names):
                yield from (each.name for each in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from (f"{module}.{each.name}" for each in names)
            case ast.ImportFrom():
                raise AssertionError(f"{file}:{node.lineno} imports by a relative name")


def imports(folder: str) -> list[tuple[str, str]]:
    """Each file of a folder with each name that it imports."""
    files = sorted((ROOT / folder).rglob("*.py"))
    found = [(str(file.relative_to(ROOT)), name) for file in files for name in imported(file)]
    assert found
    return found


def is_of_a_test(name: str) -> bool:
    top, *rest = name.split(".")
    return top == "tests" and any(part.startswith("test_") for part in rest)


def test_no_test_imports_another_test() -> None:
    assert [(file, name) for file, name in imports("tests") if is_of_a_test(name)] == []


def test_tests_do_not_import_benchmarks() -> None:
    assert [(file, name) for file, name in imports("tests") if name.split(".")[0] == "benchmarks"] == []


def test_benchmarks_import_only_the_support_of_tests() -> None:
    of_tests = [(file, name) for file, name in imports("benchmarks") if name.split(".")[0] == "tests"]
    assert [(file, name) for file, name in of_tests if not name.startswith("tests.support.")] == []


@pytest.mark.parametrize(
    "text",
    ["from tests.git.test_paths import NEVER", "from tests.git import test_paths", "import tests.git.test_paths"],
)
def test_an_import_of_a_test_is_seen_however_it_is_written(tmp_path: Path, text: str) -> None:
    (tmp_path / "one.py").write_text(f"def inside():\n    {text}\n")
    (name,) = imported(tmp_path / "one.py")
    assert is_of_a_test(name)
