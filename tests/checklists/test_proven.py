"""Items that are proven elsewhere: each row of `proven.yaml` names tests that exist."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ROWS: dict[str, dict[str, str | list[str]]] = yaml.safe_load(Path(__file__).with_name("proven.yaml").read_text())
ITEMS = [(document, item) for document, items in ROWS.items() for item in items]
DOCUMENTS = ("the memory protocol", "the branch workspace", "the pipeline", "the explorer's chat")


@cache
def names_in(path: Path) -> frozenset[str]:
    """Names of the tests in a module of Python, or titles of those in one of the web interface."""
    text = path.read_text()
    if path.suffix != ".py":
        return frozenset(line.split('"')[1] for line in text.splitlines() if line.startswith(("test(", "it(")))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.parse(text).body if isinstance(node, functions))


@pytest.mark.parametrize(("document", "item"), ITEMS, ids=[item for _, item in ITEMS])
def test_the_tests_of_an_item_exist(document: str, item: str) -> None:
    named = ROWS[document][item]
    tests = [named] if isinstance(named, str) else named
    assert tests, "no test proves it"
    for test in tests:
        path, _, name = test.partition("::")
        assert name in names_in(ROOT / path), test


def test_every_document_has_its_rows() -> None:
    assert tuple(ROWS) == DOCUMENTS
