"""Tools that read: files, lines, lists, searches, syntax."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from forge.tools.result_text import RESULT_BYTES
from tests.tools.conftest import FILES, Bench

NewBench = Callable[..., Bench]

pytestmark = pytest.mark.req("G-11")


def test_a_file_is_read_with_line_numbers(bench: NewBench) -> None:
    assert bench().ok("read_file", path="README.md") == (
        "README.md (3 lines)\n     1\t# Demo\n     2\t\n     3\tA small thing."
    )


def test_a_range_is_read_and_its_ends_are_checked(bench: NewBench) -> None:
    b = bench()
    text = b.ok("read_file", path="src/app.py", start_line=4, end_line=5)
    assert text.splitlines()[0] == "src/app.py (9 lines), lines 4-5"
    assert text.splitlines()[1:] == ["     4\tdef greet(name):", "     5\t    return f'Hello {name}'"]
    assert "has only 9 lines" in b.no("read_file", path="src/app.py", start_line=10)
    assert "before start_line" in b.no("read_file", path="src/app.py", start_line=4, end_line=2)
    assert b.ok("read_file", path="src/app.py", start_line=9, end_line=999).endswith("print(greet('you'))")


def test_a_long_file_says_how_to_read_on_and_the_pages_hold_all_of_it(bench: NewBench) -> None:
    b = bench({"long.txt": "".join(f"line {n} {'x' * 40}\n" for n in range(1, 3001))})
    seen, start = [], 1
    while True:
        text = b.ok("read_file", path="long.txt", start_line=start)
        assert len(text.encode()) <= RESULT_BYTES
        rows = text.split("\n")
        seen += [row.split("\t")[1].split()[1] for row in rows if "\t" in row]
        if "read on with start_line=" not in rows[-1]:
            break
        start = int(rows[-1].split("start_line=")[1].rstrip(".]"))
    assert seen == [str(n) for n in range(1, 3001)]


def test_a_very_long_line_is_cut_and_said_so(bench: NewBench) -> None:
    text = bench({"min.js": "x" * 100_000}).ok("read_file", path="min.js")
    assert len(text) < 2_000
    assert "99,000 more characters" in text


def test_what_is_no_text_is_said_clearly(bench: NewBench) -> None:
    b = bench(FILES, symlinks={"link": "src/app.py"})
    assert "binary file of 7 bytes" in b.no("read_file", path="data/logo.png")
    assert "not UTF-8: byte 3 of 5 is 0xe9" in b.no("read_file", path="data/latin.txt")
    assert "symbolic link to src/app.py" in b.no("read_file", path="link")
    assert "src is a folder. It holds: app.py, names.py, windows.py." in b.no("read_file", path="src")


def test_crlf_is_named_and_not_shown(bench: NewBench) -> None:
    text = bench().ok("read_file", path="src/windows.py")
    assert "CRLF line ends" in text
    assert "\r" not in text


@pytest.mark.parametrize("path", ["./src/app.py", "/src/app.py", "src\\app.py", "src//app.py", "src/../src/app.py"])
def test_other_spellings_of_a_path_that_is_there_are_understood(bench: NewBench, path: str) -> None:
    assert bench().ok("read_file", path=path).startswith("src/app.py (9 lines)")


def test_a_wrong_path_gets_the_nearest_ones(bench: NewBench) -> None:
    b = bench()
    assert "No such file: src/ap.py. Near it: src/app.py" in b.no("read_file", path="src/ap.py")
    assert "Near it: src/app.py" in b.no("read_file", path="lib/app.py")
    assert b.no("read_file", path="app.pyx").count(",") <= 4
    assert "Did you mean `etc/passwd`?" in b.no("read_file", path="/etc/passwd")
    assert "Did you mean `no/where.py`?" in b.no("read_file", path="no\\where.py")
    assert "leads out of the repository" in b.no("read_file", path="../secret")
    assert "names no file" in b.no("read_file", path="")
    assert "NUL" in b.no("read_file", path="a\0b")
    assert "git directory" in b.no("read_file", path=".git/config")


def test_lines_around_a_line_are_shown(bench: NewBench) -> None:
    b = bench()
    text = b.ok("get_lines", path="src/app.py", line=4, around=1)
    assert [row.split("\t")[0].strip() for row in text.splitlines()[1:]] == ["3", "4", "5"]
    assert "there is no line 99" in b.no("get_lines", path="src/app.py", line=99)


def test_files_are_listed_without_forges_own_records(bench: NewBench) -> None:
    b = bench()
    text = b.ok("list_files")
    assert text.startswith("7 files:\nREADME.md\n")
    assert ".forge" not in text
    assert ".forge/session/0001.json" in b.ok("list_files", path=".forge")
    assert b.ok("list_files", path="src/") == ("3 files below src/:\nsrc/app.py\nsrc/names.py\nsrc/windows.py")
    assert b.ok("list_files", glob="*.json") == "1 file matching *.json:\nconfig.json"
    assert b.ok("list_files", glob="*.nope") == "No files matching *.nope."
    assert "No such folder: scr." in b.no("list_files", path="scr")
    assert "cannot be used" in b.no("list_files", glob="[")


def test_many_files_are_counted_by_folder(bench: NewBench) -> None:
    files = {f"pkg/{folder}/f{n}.py": "" for folder in "abc" for n in range(150)} | {"pkg/top.py": ""}
    b = bench(files)
    assert b.ok("list_files").splitlines() == [
        "451 files, by folder:",
        "pkg/a/ (150 files)",
        "pkg/b/ (150 files)",
        "pkg/c/ (150 files)",
        "pkg/top.py",
    ]
    text = b.ok("list_files", glob="*.py")
    assert text.startswith("451 files matching *.py; the first 300 are:")
    assert "Not all are shown" in text


def test_search_finds_pending_text_and_leaves_out_forges_records(bench: NewBench) -> None:
    b = bench()
    b.ok("write_file", path="new.txt", content="one\ngreet me\n")
    assert b.ok("search", pattern="greet") == (
        "3 matching lines in 2 files:\nnew.txt\n  2: greet me\nsrc/app.py\n  4: def greet(name):\n"
        "  9:     print(greet('you'))"
    )
    assert "session/0001.json" in b.ok("search", pattern="greet", include=[".forge/**"])


def test_search_knows_expressions_globs_context_and_limits(bench: NewBench) -> None:
    b = bench()
    assert "src/windows.py" in b.ok("search", pattern=r"^def \w+\(\):$", regex=True, include=["src/**"])
    assert b.ok("search", pattern="HELLO", ignore_case=True, context=1) == (
        "1 matching line in 1 file:\nsrc/app.py\n  4- def greet(name):\n  5:     return f'Hello {name}'\n  6- "
    )
    assert b.ok("search", pattern="nowhere") == "Nothing matches 'nowhere'."
    assert "there are more" in b.ok("search", pattern="e", limit=2)
    assert b.ok("search", pattern="def", exclude=["*.py"]) == "Nothing matches 'def'."
    assert "pattern" in b.no("search", pattern="(", regex=True)


def test_a_search_result_stays_under_the_cap(bench: NewBench) -> None:
    b = bench({f"f{n}.txt": "match " + "y" * 290 + "\n" for n in range(200)})
    text = b.ok("search", pattern="match", limit=500)
    assert len(text.encode()) <= RESULT_BYTES
    assert "Not all matches are shown" in text


@pytest.mark.parametrize(
    ("path", "good", "bad", "place"),
    [
        ("a.py", "def f():\n    return 1\n", "def f(:\n    return 1\n", "line 1"),
        ("a.js", "const a = () => 1;\n", "const a = ;\n", "line 1"),
        ("a.ts", "const a: number = 1;\n", "\nconst a: = 1;\n", "line 2"),
        ("a.tsx", "const a = <b>x</b>;\n", "const a = <b>x</c;\n", "line 1"),
        ("a.go", "package a\n\nfunc f() {}\n", "package a\n\nfunc f( {}\n", "line 3"),
        ("a.rs", "fn f() -> u8 { 1 }\n", "fn f() -> { 1 \n", "line 1"),
        ("A.java", "class A { int x; }\n", "class A { int ; }\n", "line 1"),
        ("a.c", "int f(void) { return 1; }\n", "int f(void) { return 1 }\n", "line 1"),
        ("a.cpp", "class A { int x; };\n", "class A { int x; ;;} )\n", "line 1"),
        ("a.h", "class A { int x; };\n", "class { ( }\n", "line 1"),
        ("a.json", '{"a": [1]}\n', '{"a":\n [1}\n', "line 2, column 4"),
        ("a.yaml", "a: [1, 2]\nb: *x\n", "a: [1, 2\nb: 3\n", "line 2"),
        ("a.toml", "a = 1\n", "a = 1\nb = \n", "line 2"),
    ],
)
def test_syntax_is_checked_with_the_place_of_the_fault(
    bench: NewBench, path: str, good: str, bad: str, place: str
) -> None:
    b = bench({"README.md": ""})
    assert "Warning" not in b.ok("write_file", path=path, content=good)
    assert b.ok("check_syntax", path=path) == f"{path} parses."
    assert f"does not parse now: {place}" in b.ok("write_file", path=path, content=bad)
    assert place in b.ok("check_syntax", path=path)
    # It did not parse before either: no second warning.
    assert "Warning" not in b.ok("write_file", path=path, content=bad + "\n")


def test_syntax_of_other_files_is_not_judged(bench: NewBench) -> None:
    b = bench()
    assert "cannot be checked" in b.no("check_syntax", path="README.md")
    deep = "[" * 100_000
    assert "does not parse" in b.ok("write_file", path="deep.json", content=deep)
    assert "does not parse" in b.ok("write_file", path="deep.yaml", content=deep)
    assert "does not parse" in b.ok("write_file", path="deep.toml", content=f"a = {deep}")
    assert "does not parse" in b.ok("write_file", path="deep.py", content=deep)
