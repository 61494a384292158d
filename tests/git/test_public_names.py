"""What `forge.git` offers by name is loaded when it is asked for, and not before."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import forge.git


def modules_by_name() -> dict[str, str]:
    """What the type checker is told of each name."""
    tree = ast.parse(Path(forge.git.__file__).read_text("utf-8"))
    return {
        each.name: str(node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("forge.")
        for each in node.names
    }


def test_every_public_name_is_what_the_type_checker_takes_it_for() -> None:
    told = modules_by_name()
    assert sorted(told) == sorted(forge.git.__all__)
    for name, module in told.items():
        assert getattr(forge.git, name) is getattr(sys.modules[module], name)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        forge.git.Nothing  # noqa: B018


def test_an_error_of_git_is_imported_without_the_git_library() -> None:
    code = "import sys; from forge.git import BranchMoved; from forge.git.values import CommitId; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "forge.git.errors" in loaded
    assert not {"pygit2", "forge.git.repository"} & set(loaded)
