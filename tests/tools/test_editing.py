"""Tools that write: whole files, replacements, deletions, renames, undo; and what none of them may touch."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forge.git import Mode
from forge.tools.registry import builtin_tools
from tests.support.toolboxes import open_toolbox
from tests.tools.conftest import FILES, Bench

NewBench = Callable[..., Bench]

pytestmark = pytest.mark.req("G-11")


def test_a_file_is_created_and_replaced(bench: NewBench) -> None:
    b = bench()
    assert b.ok("write_file", path="docs/new.md", content="one\ntwo\n") == "Created docs/new.md: 2 lines."
    assert b.ok("write_file", path="docs/new.md", content="three") == "Replaced docs/new.md: 1 line."
    assert b.text("docs/new.md") == "three"
    assert "nothing changed" in b.ok("write_file", path="docs/new.md", content="three")


def test_a_replaced_file_keeps_its_crlf_and_its_mode(bench: NewBench) -> None:
    b = bench()
    b.vfs.set_mode("src/windows.py", Mode.EXECUTABLE)
    assert "CRLF line ends were kept" in b.ok("write_file", path="src/windows.py", content="a = 1\nb = 2\n")
    assert b.vfs.read_bytes("src/windows.py") == b"a = 1\r\nb = 2\r\n"
    assert b.vfs.mode("src/windows.py") == Mode.EXECUTABLE


@pytest.mark.parametrize(
    "path",
    [
        ".forge/session.json",
        ".forge/approved_tools.json",
        "./.forge/x",
        ".Forge/x",
        ".FORGE/session/1.json",
        "a/../.forge/x",
    ],
)
@pytest.mark.req("G-12")
def test_forges_own_records_are_not_written_by_tools(bench: NewBench, path: str) -> None:
    b = bench()
    assert "Forge's own records" in b.no("write_file", path=path, content="{}")
    assert "Forge's own records" in b.no("rename_file", path="config.json", new_path=path)


def test_forges_own_records_are_not_deleted_or_edited_either(bench: NewBench) -> None:
    b = bench()
    own = ".forge/session/0001.json"
    assert "Forge's own records" in b.no("delete_file", path=own)
    assert "Forge's own records" in b.no("rename_file", path=own, new_path="x.json")
    assert "Forge's own records" in b.no("search_replace", path=own, search="secret", replace="x")
    assert "Forge's own records" in b.no("undo_edit", path=own)
    assert "Forge's own records" in b.no("update_context", add=[{"path": own}])


@pytest.mark.parametrize(
    ("path", "word"),
    [
        (".git/hooks/pre-commit", "git directory"),
        ("src/.GIT/x", "git directory"),
        ("../x", "leads out"),
        ("/abs/x.py", "Did you mean `abs/x.py`?"),
        ("a\\b.py", "Did you mean `a/b.py`?"),
        ("src", "src is a directory"),
        ("src/app.py/x", "not a folder"),
        ("src/APP.py", "only in spelling"),
        ("con.txt", "device name"),
        ("a\nb", "control character"),
    ],
)
def test_paths_that_cannot_be_written_are_refused_with_the_reason(bench: NewBench, path: str, word: str) -> None:
    assert word in bench().no("write_file", path=path, content="x")


def test_the_only_occurrence_is_replaced(bench: NewBench) -> None:
    b = bench()
    done = b.ok("search_replace", path="src/app.py", search="return f'Hello {name}'", replace="return name")
    assert done == "Replaced 1 occurrence in src/app.py, now at line 5."
    assert "    return name\n" in b.text("src/app.py")


def test_an_ambiguous_text_is_counted_and_placed(bench: NewBench) -> None:
    b = bench()
    said = b.no("search_replace", path="src/app.py", search="greet", replace="hail")
    assert "occurs 2 times in src/app.py (at lines 4, 9)" in said
    assert "3 were expected" in b.no("search_replace", path="src/app.py", search="greet", replace="hail", count=3)
    assert "2 occurrences" in b.ok("search_replace", path="src/app.py", search="greet", replace="hail", count=2)
    assert "2 occurrences" in b.ok("search_replace", path="src/app.py", search="hail", replace="greet", all=True)
    assert b.vfs.pending_changes() == {}


def test_crlf_stays_when_the_model_sends_line_feeds(bench: NewBench) -> None:
    b = bench()
    b.ok(
        "search_replace",
        path="src/windows.py",
        search="one():\n    return 1\n",
        replace="uno():\n    x = 1\n    return x\n",
    )
    assert b.vfs.read_bytes("src/windows.py") == (
        b"def uno():\r\n    x = 1\r\n    return x\r\n\r\n\r\ndef two():\r\n    return 2\r\n"
    )
    b.ok("search_replace", path="src/windows.py", search="return 2", replace="y = 2\n    return y")
    assert b"y = 2\r\n    return y\r\n" in b.vfs.read_bytes("src/windows.py")
    b.ok("search_replace", path="src/app.py", search="import os\r\n\r\n", replace="import sys\r\n\r\n")
    assert b.text("src/app.py").startswith("import sys\n\n")


def test_a_mixed_file_changes_only_where_it_is_edited(bench: NewBench) -> None:
    b = bench({"mixed.txt": b"a\r\nb\nc\r\nd\n"})
    b.ok("search_replace", path="mixed.txt", search="b\nc", replace="B\nC")
    assert b.vfs.read_bytes("mixed.txt") == b"a\r\nB\nC\r\nd\n"
    b.ok("search_replace", path="mixed.txt", search="a\nB", replace="A\nx")
    assert b.vfs.read_bytes("mixed.txt") == b"A\r\nx\nC\r\nd\n"


def test_a_text_that_is_almost_there_gets_its_place_and_difference(bench: NewBench) -> None:
    said = bench().no(
        "search_replace", path="src/app.py", search="def greet(nam):\n    return f'Hello {nam}'\n", replace="x"
    )
    assert "Nearest: lines 4-5" in said
    assert "-def greet(nam):" in said
    assert "+def greet(name):" in said


@pytest.mark.parametrize(
    ("search", "hint"),
    [
        ("def main():\n  print(greet('you'))", "the indentation"),
        ("def main():\n\tprint(greet('you'))", "the file is indented with spaces, your text with tabs"),
        ("def main():  \n    print(greet('you'))", "spaces at line ends"),
        ("     8\tdef main():\n     9\t    print(greet('you'))", "Leave out the line numbers"),
        ("def main():\\n    print", "without the backslash escapes"),
        ("DEF MAIN", "other capital letters"),
        (" nothing like this ######", "Nothing in the file is like it"),
    ],
)
def test_what_keeps_a_text_from_matching_is_named(bench: NewBench, search: str, hint: str) -> None:
    assert hint in bench().no("search_replace", path="src/app.py", search=search, replace="x")


def test_the_nearest_place_is_found_in_a_long_file_quickly(bench: NewBench) -> None:
    lines = [f"    value_{n} = compute({n}, scale={n % 7})\n" for n in range(12_000)]
    b = bench({"big.py": "".join(lines)})
    search = "".join(lines[7_000:7_150]).replace("compute(7070", "computed(7070")
    assert "Nearest: lines 7001-7150" in b.no("search_replace", path="big.py", search=search, replace="")


def test_replacing_nothing_or_by_itself_is_refused(bench: NewBench) -> None:
    b = bench()
    assert "`search` is empty" in b.no("search_replace", path="src/app.py", search="", replace="x")
    assert "nothing would change" in b.no("search_replace", path="src/app.py", search="os", replace="os")
    assert "binary file" in b.no("search_replace", path="data/logo.png", search="PNG", replace="x")


def test_an_edit_that_breaks_a_file_is_warned_about(bench: NewBench) -> None:
    b = bench()
    said = b.ok("search_replace", path="src/app.py", search="def main():", replace="def main(:")
    assert "Warning: src/app.py does not parse now: line 8" in said


def test_files_are_deleted_and_renamed(bench: NewBench) -> None:
    b = bench()
    assert b.ok("delete_file", path="config.json") == "Deleted config.json."
    assert "No such file: config.json" in b.no("delete_file", path="config.json")
    assert b.ok("rename_file", path="src/names.py", new_path="src/core/names.py")
    assert b.text("src/core/names.py") == FILES["src/names.py"]
    assert "exists already" in b.no("rename_file", path="src/core/names.py", new_path="src/app.py")
    assert "such as src/names.py" in b.no("rename_file", path="src/core/names.py", new_path="src")
    assert "this name already" in b.no("rename_file", path="src/app.py", new_path="./src/app.py")


def test_edits_are_taken_back_one_by_one(bench: NewBench) -> None:
    b = bench()
    assert "Nothing was edited yet" in b.no("undo_edit", path="src/app.py")
    b.ok("search_replace", path="src/app.py", search="os", replace="sys")
    first = b.text("src/app.py")
    b.ok("write_file", path="src/app.py", content="x = 1\n")
    b.ok("write_file", path="other.txt", content="kept\n")
    assert "(1 earlier left)" in b.ok("undo_edit", path="src/app.py")
    assert b.text("src/app.py") == first
    b.ok("undo_edit", path="./src/app.py")
    assert b.text("src/app.py") == FILES["src/app.py"]
    assert "was not edited in this turn. Edited were: other.txt." in b.no("undo_edit", path="src/app.py")
    assert list(b.vfs.pending) == ["other.txt"]


def test_created_deleted_and_renamed_files_come_back_as_they_were(bench: NewBench) -> None:
    b = bench()
    b.vfs.set_mode("src/app.py", Mode.EXECUTABLE)
    b.ok("write_file", path="new.txt", content="x")
    b.ok("delete_file", path="src/app.py")
    b.ok("rename_file", path="config.json", new_path="conf/main.json")
    assert "new.txt is gone again" in b.ok("undo_edit", path="new.txt")
    b.ok("undo_edit", path="src/app.py")
    assert b.vfs.mode("src/app.py") == Mode.EXECUTABLE
    b.ok("undo_edit", path="conf/main.json")
    assert b.text("config.json") == FILES["config.json"]
    assert not b.vfs.file_exists("conf/main.json")
    assert list(b.vfs.pending) == ["src/app.py"]


def test_a_rename_that_was_built_upon_is_not_half_taken_back(bench: NewBench) -> None:
    b = bench()
    b.ok("rename_file", path="config.json", new_path="main.json")
    b.ok("write_file", path="config.json", content='{"new": 1}\n')
    assert "config.json changed since" in b.no("undo_edit", path="main.json")
    b.ok("undo_edit", path="config.json")
    b.ok("undo_edit", path="main.json")
    assert b.vfs.pending_changes() == {}


def test_running_the_same_calls_again_gives_the_same_results_and_files(bench: NewBench) -> None:
    b = bench()
    calls = [
        ("write_file", {"path": "a.py", "content": "x = (\n"}),
        ("search_replace", {"path": "src/app.py", "search": "greet", "replace": "hail", "all": True}),
        ("undo_edit", {"path": "a.py"}),
        ("grep_open", {"pattern": "hail"}),
        ("rename_file", {"path": "config.json", "new_path": "c.json"}),
        ("search", {"pattern": "hail"}),
        ("read_file", {"path": "nope.py"}),
    ]
    first = [b.box.run(b.vfs, name, args) for name, args in calls]
    vfs, box = b.repo.workspace("work", actor=b.vfs.actor), open_toolbox(builtin_tools(None))
    assert [box.run(vfs, name, args) for name, args in calls] == first
    assert dict(vfs.pending) == dict(b.vfs.pending)
