"""Tools that change which files are in the agent's context."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forge.sessions.active import ActiveFile, read_active
from tests.tools.conftest import Bench

NewBench = Callable[..., Bench]

pytestmark = pytest.mark.req("G-11")


def test_files_come_in_with_ranges_and_go_out(bench: NewBench) -> None:
    b = bench()
    said = b.ok("update_context", add=[{"path": "src/app.py", "ranges": [[6, 8], [1, 2]]}, {"path": "./README.md"}])
    assert said == "In the context now (2 files):\nsrc/app.py (lines 1-2, 6-8)\nREADME.md"
    b.ok("update_context", add=[{"path": "src/app.py", "ranges": [[3, 99]]}])
    assert read_active(b.vfs) == (ActiveFile("src/app.py", ((1, 9),)), ActiveFile("README.md"))
    b.ok("update_context", add=[{"path": "src/app.py"}], remove=["README.md"])
    b.ok("update_context", add=[{"path": "src/app.py", "ranges": [[1, 2]]}])
    assert read_active(b.vfs) == (ActiveFile("src/app.py"),)
    assert b.ok("update_context", remove=["src/app.py"]) == "The context has no files now."


def test_a_mistake_changes_nothing_of_the_context(bench: NewBench) -> None:
    b = bench()
    b.ok("update_context", add=[{"path": "README.md"}])
    assert "No such file" in b.no(
        "update_context", add=[{"path": "src/app.py"}, {"path": "nope"}], remove=["README.md"]
    )
    assert "not in the context; near it is README.md" in b.no("update_context", remove=["READM.md"])
    assert "ends before it begins" in b.no("update_context", add=[{"path": "src/app.py", "ranges": [[5, 2]]}])
    assert "only 9 lines" in b.no("update_context", add=[{"path": "src/app.py", "ranges": [[50, 60]]}])
    assert "`add[0].ranges[0]` must have at least 2 items" in b.no(
        "update_context", add=[{"path": "src/app.py", "ranges": [[5]]}]
    )
    assert "Give `add`, `remove` or both" in b.no("update_context")
    assert "binary" in b.no("update_context", add=[{"path": "data/logo.png"}])


def test_a_file_that_is_gone_can_still_be_taken_out(bench: NewBench) -> None:
    b = bench()
    b.ok("update_context", add=[{"path": "README.md"}])
    b.ok("delete_file", path="README.md")
    b.ok("update_context", remove=["README.md"])
    assert read_active(b.vfs) == ()


def test_matching_files_are_opened_wholly_or_around_the_matches(bench: NewBench) -> None:
    long = "".join(f"line {n}\n" for n in range(1, 1001))
    b = bench({"long.txt": long.replace("line 500\n", "needle\n"), "short.txt": "needle\nneedle\n", "no.txt": "x\n"})
    said = b.ok("grep_open", pattern="needle")
    assert read_active(b.vfs) == (ActiveFile("short.txt"), ActiveFile("long.txt", ((480, 520),)))
    assert "  500: needle" in said
    assert "the context is unchanged" in b.ok("grep_open", pattern="nowhere")


def test_no_more_files_are_opened_than_asked_for(bench: NewBench) -> None:
    b = bench({f"f{n:02}.txt": "needle\n" for n in range(30)})
    said = b.ok("grep_open", pattern="needle", limit=3)
    assert [file.path for file in read_active(b.vfs)] == ["f00.txt", "f01.txt", "f02.txt"]
    assert "27 more files matched and stayed closed" in said
