"""How deep imports are nested: the longest chain of modules that import each other when Forge is loaded.

Counted is what importing a module loads: imports for types alone do not count. A name that a package offers and loads
on demand (`forge.git.Repository`) counts as an import of the module that it comes from. The limits only go down.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

import forge

ROOT = Path(forge.__file__).parent
LONGEST = 25
WITHIN = 8

Graph = Mapping[str, frozenset[str]]


@cache
def graph() -> Graph:
    files = {_name(path): path for path in ROOT.rglob("*.py")}
    return {
        name: frozenset(each for each in _imports(ast.parse(path.read_bytes()).body, files) if each != name)
        for name, path in files.items()
    }


@cache
def on_demand() -> Mapping[str, str]:
    """The module behind each name that a package loads when it is asked for: there, the import is for types alone."""
    return {
        f"{_name(path)}.{each.name}": str(node.module)
        for path in ROOT.rglob("__init__.py")
        for block in ast.parse(path.read_bytes()).body
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.unparse(block.test)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    }


def _name(path: Path) -> str:
    parts = ("forge", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(nodes: list[ast.stmt], known: Mapping[str, Path]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.ImportFrom(module=str(module), names=names):
                yield from (
                    full for each in names if (full := _known(f"{module}.{each.name}", module, known)) is not None
                )
            case ast.Import(names=names):
                yield from (each.name for each in names if each.name in known)
            case ast.If(test=test) if "TYPE_CHECKING" in ast.unparse(test):
                yield from _imports(node.orelse, known)
            case ast.If() | ast.Try() | ast.With() | ast.ClassDef():
                parts = [*node.body, *getattr(node, "orelse", []), *getattr(node, "finalbody", [])]
                yield from _imports(parts, known)


def _known(full: str, module: str, known: Mapping[str, Path]) -> str | None:
    return full if full in known else on_demand().get(full, module) if module in known else None


def longest(package: str = "forge") -> tuple[str, ...]:
    """The longest chain within a package, from the top to the module that imports nothing of it."""

    def inside(name: str) -> bool:
        return name == package or name.startswith(f"{package}.")

    @cache
    def chain(name: str) -> tuple[str, ...]:
        below = [chain(each) for each in sorted(graph()[name]) if inside(each)]
        return (name, *max(below, key=len, default=()))

    return max((chain(name) for name in graph() if inside(name)), key=len)


def test_the_longest_chain_of_imports_does_not_grow() -> None:
    found = longest()
    print(f"import depth: {len(found) - 1}")
    assert len(found) - 1 <= LONGEST, "\n".join(found)


@pytest.mark.parametrize("package", sorted(each.name for each in ROOT.iterdir() if (each / "__init__.py").exists()))
def test_a_package_is_not_deep(package: str) -> None:
    found = longest(f"forge.{package}")
    assert len(found) - 1 <= WITHIN, "\n".join(found)
