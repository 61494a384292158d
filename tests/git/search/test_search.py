"""Searching a tree and what is pending on it: what is found, how it is shown, and where it stops."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forge.git import Mode, ObjectId, Pending
from forge.git.errors import RevisionMissing
from forge.git.objects.object_store import Objects
from forge.git.objects.raw_object import object_id
from forge.git.search.cache_fill import is_warm, warm
from forge.git.search.guard import HelperFailed
from forge.git.search.matches import Match
from forge.git.search.query import Case, InvalidQuery, Query
from forge.git.search.results import Limit, search
from forge.git.values import EMPTY_TREE, ObjectKind
from tests.git import worlds
from tests.git.search.oracle import cold, found_in, matching_lines, new_objects, numbers, signed, tree_of

pytestmark = pytest.mark.req("G-11")

FILES = {
    "README.md": b"# Title\nTODO: write\n",
    "src/app.py": b"import os\n\n\ndef main() -> None:\n    todo = 1\n    print(todo)  # TODO later\n",
    "src/lib/tools.py": b"def tool():\n    return 'TODO'\n",
    "docs/notes.txt": b"nothing here",
}


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    return new_objects(tmp_path / "repo.git")


def pending_file(data: bytes, mode: int = Mode.FILE) -> Pending:
    return Pending(mode, object_id(ObjectKind.BLOB, data), data)


# -- what is found


def test_a_literal_is_found_in_every_file_in_gits_order(objects: Objects) -> None:
    tree = tree_of(objects, FILES)
    assert found_in(objects, tree, Query("TODO")) == {"README.md": [2], "src/app.py": [6], "src/lib/tools.py": [2]}


def test_a_pattern_is_plain_text_unless_it_is_said_to_be_an_expression(objects: Objects) -> None:
    tree = tree_of(objects, {"a": b"f(x)\nfx\n"})
    assert found_in(objects, tree, Query("f(x)")) == {"a": [1]}
    assert found_in(objects, tree, Query("f(x)", regex=True)) == {"a": [2]}


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        (Query("todo"), [5, 6]),
        (Query("todo", case=Case.INSENSITIVE), [2, 5, 6]),
        (Query("todo", case=Case.SMART), [2, 5, 6]),
        (Query("TODO", case=Case.SMART), [2, 6]),
        (Query(r"t\w*o", regex=True, case=Case.SMART), [2, 5, 6]),
        (Query(r"T\w*O", regex=True, case=Case.SMART), [2, 6]),
        (Query(r"(?i)todo", regex=True), [2, 5, 6]),
    ],
)
def test_letters_are_compared_as_the_query_says(objects: Objects, query: Query, lines: list[int]) -> None:
    tree = tree_of(objects, {"f": FILES["src/app.py"].replace(b"\n\n", b"\n# Todo TODO\n", 1)})
    for way in (warm, lambda *_: None):
        way(objects, tree)
        assert found_in(objects, tree, query) == {"f": lines}
    with cold():
        assert found_in(objects, tree, query) == {"f": lines}


def test_a_whole_word_has_no_letter_on_either_side_not_even_one_beyond_ascii(objects: Objects) -> None:
    tree = tree_of(objects, {"f": "to\ntodo\nauto\n_to\n(to)\ntö to\ntoö\nto1 to-1\n".encode()})
    assert found_in(objects, tree, Query("to", whole_word=True)) == {"f": [1, 5, 6, 8]}
    assert found_in(objects, tree, Query("(?x) t|to # one", regex=True, whole_word=True)) == {"f": [1, 5, 6, 8]}


def test_letters_beyond_ascii_are_units_and_have_two_cases(objects: Objects) -> None:
    tree = tree_of(objects, {"f": "Größe\nGRÖSSE\ngrööße\nöÖ\n".encode(), "g": b"Gr\xf6\xdfe\n"})
    assert found_in(objects, tree, Query("größe", case=Case.INSENSITIVE)) == {"f": [1]}
    assert found_in(objects, tree, Query("grÖ", case=Case.INSENSITIVE)) == {"f": [1, 2, 3]}
    assert found_in(objects, tree, Query("^grö+ß", regex=True)) == {"f": [3]}
    assert found_in(objects, tree, Query("^ö+$", regex=True, case=Case.SMART)) == {"f": [4]}
    for way in (cold, signed):
        with way():
            assert found_in(objects, tree, Query("Gr\udcf6")) == {"g": [1]}
            assert found_in(objects, tree, Query("\udcf6\udcdfE", case=Case.INSENSITIVE)) == {"g": [1]}


def test_line_ends_of_either_kind_are_no_part_of_a_line(objects: Objects) -> None:
    files = {"crlf": b"one\r\ntwo \r\n\r\nfour\r", "lf": b"one\ntwo \n\nfour"}
    tree = tree_of(objects, files)
    for pattern in (r"one$", r"^\s+$", r"\s$", r"^$", r"four\Z", r"e$|\bt"):
        wanted = matching_lines(files, pattern.encode())
        assert found_in(objects, tree, Query(pattern, regex=True)) == wanted
    assert found_in(objects, tree, Query("one$", regex=True)) == {"crlf": [1], "lf": [1]}
    assert search(objects, tree, Query("one")).collected().files[0].matches[0].text == "one"


def test_hostile_contents_and_names_are_survived(objects: Objects) -> None:
    files = {
        "empty": b"",
        "no newline at the end": b"x needle",
        "only newlines": b"\n\n\n",
        "latin": b"caf\xe9 needle\n",
        "late nul": b"needle\n" + b"a" * 8000 + b"\0\nneedle\n",
        "late nul after many lines": b"x\r\n" * 2_700 + b"\0needle\r\n",
        "one line": b"a" * 900_000 + b"needle" + b"b" * 50_000,
        "näme\nwith\tall\\sorts\"'": b"needle\n",
        "not\udcffutf8": b"needle\n",
        "-e": b"needle\n",
        ":(top)x": b"needle\n",
    }
    tree = tree_of(objects, files)
    wanted = matching_lines(files, b"needle")
    assert len(wanted) == 9
    with cold():
        assert found_in(objects, tree, Query("needle")) == wanted
        assert found_in(objects, tree, Query("ne+dle$|needleb", regex=True)) == matching_lines(
            files, b"ne+dle$|needleb"
        )
    warm(objects, tree)
    assert found_in(objects, tree, Query("needle")) == wanted
    assert found_in(objects, tree, Query("^$", regex=True)) == {"only newlines": [1, 2, 3]}


def test_binary_files_are_named_and_not_shown(objects: Objects) -> None:
    files = {
        "a.bin": b"\0needle\n",
        "b.txt": b"needle\n",
        "large.bin": b"\0" + b"x" * 70_000 + b"needle",
        "other.bin": b"\0\1\2",
        "wide.txt": "needle\n".encode("utf-16"),
    }
    tree = tree_of(objects, files)
    for way in (cold, signed):
        with way():
            found = search(objects, tree, Query("needle")).collected()
            assert numbers(found) == {"b.txt": [1]}
            assert found.binary == ("a.bin",)


def test_attributes_do_not_hide_a_file_that_is_text(objects: Objects) -> None:
    files = {".gitattributes": b"*.dat binary\n*.raw -diff -text\n", "a.dat": b"needle\n", "b.raw": b"needle\n"}
    tree = tree_of(objects, files)
    (objects.common_dir / "info").mkdir(exist_ok=True)
    (objects.common_dir / "info" / "attributes").write_bytes(files[".gitattributes"])
    with cold():
        assert found_in(objects, tree, Query("needle")) == {"a.dat": [1], "b.raw": [1]}


def test_links_and_submodules_have_no_lines(objects: Objects) -> None:
    directory = objects.git_dir
    blob = worlds.blob(directory, b"needle")
    entries = [(b"120000", b"link", blob), (b"160000", b"module", "1" * 40), (b"100755", b"run", blob)]
    tree = worlds.tree(directory, entries)
    change = {"other": pending_file(b"needle", Mode.SYMLINK), "tool": pending_file(b"needle", Mode.EXECUTABLE)}
    wanted = {"run": [1], "tool": [1]}
    with cold():
        assert numbers(search(objects, tree, Query("needle"), pending=change).collected()) == wanted
    assert numbers(search(objects, tree, Query("needle"), pending=change).collected()) == wanted


def test_odd_modes_of_files_and_folders_are_searched(objects: Objects) -> None:
    directory = objects.git_dir
    blob = worlds.blob(directory, b"needle\n")
    folder = worlds.tree(directory, [(b"100664", b"file", blob)])
    tree = worlds.tree(directory, [(b"040000", b"folder", folder), (b"100600", b"top", blob)])
    with cold():
        assert found_in(objects, tree, Query("needle")) == {"folder/file": [1], "top": [1]}
    assert found_in(objects, tree, Query("needle")) == {"folder/file": [1], "top": [1]}


def test_an_empty_tree_has_no_matches_and_a_missing_one_is_an_error(objects: Objects) -> None:
    assert found_in(objects, EMPTY_TREE, Query("x")) == {}
    with pytest.raises(RevisionMissing):
        search(objects, ObjectId("1" * 40), Query("x")).collected()


@pytest.mark.parametrize("pattern", ["needle", "the needle", "x = 1", "-e", "a", "ö", "$(", "\\"])
def test_plain_text_is_found_where_git_grep_finds_it(objects: Objects, pattern: str) -> None:
    files = {
        f"{folder}/{n}.txt": f"line\n{pattern * (n % 3)} a\nx = {n}\r\n-e {n} $( \\ ö\n".encode()
        for folder in ("a", "a-b", "a.c", "a/b")
        for n in range(4)
    }
    tree = tree_of(objects, files)
    told = worlds.git(objects.git_dir, "grep", "-n", "-z", "-F", "-e", pattern, tree, ok=(0, 1)).decode()
    rows = [row.removeprefix(f"{tree}:").split("\0")[:2] for row in told.splitlines()]
    wanted: dict[str, list[int]] = {}
    for path, number in rows:
        wanted.setdefault(path, []).append(int(number))
    for prepare in (cold, signed):
        with prepare():
            assert found_in(objects, tree, Query(pattern)) == wanted


# -- base and pending as one


@pytest.mark.req("G-02")
def test_pending_changes_are_searched_instead_of_what_they_replace(objects: Objects) -> None:
    tree = tree_of(objects, {**FILES, "z": b"TODO"})
    kept = worlds.blob(objects.git_dir, b"TODO stored\n")
    pending = {
        "README.md": None,
        "src/app.py": pending_file(b"done\n"),
        "src/a new one.py": pending_file(b"\nTODO\n"),
        "zz": Pending(Mode.FILE, kept, None),
        "docs/notes.txt": pending_file(b"TODO\0"),
    }
    wanted = {"src/a new one.py": [2], "src/lib/tools.py": [2], "z": [1], "zz": [1]}
    with cold():
        found = search(objects, tree, Query("TODO"), pending=pending).collected()
    assert (numbers(found), found.binary) == (wanted, ("docs/notes.txt",))
    warm(objects, tree)
    found = search(objects, tree, Query("TODO"), pending=pending).collected()
    assert (numbers(found), found.binary) == (wanted, ("docs/notes.txt",))


def test_right_after_a_commit_the_new_files_are_found_and_cached(objects: Objects) -> None:
    base = tree_of(objects, FILES)
    warm(objects, base)
    tree = tree_of(objects, {"src/app.py": b"fresh needle\n", "src/new/x.py": b"\nfresh\n"}, base=base)
    assert not is_warm(objects, tree)
    assert found_in(objects, tree, Query("fresh")) == {"src/app.py": [1], "src/new/x.py": [2]}
    assert is_warm(objects, tree)
    assert found_in(objects, base, Query("fresh")) == {}


# -- how it is shown


def test_a_match_has_its_place_its_spans_and_the_lines_around_it(objects: Objects) -> None:
    tree = tree_of(objects, {"f": b"one\ntwo\nthree two two\nfour\nfive"})
    query = Query("two", context_before=2, context_after=1)
    (file,) = search(objects, tree, query)
    assert file == (
        "f",
        (
            Match(2, 1, "two", ((0, 3),), ("one",), ("three two two",)),
            Match(3, 7, "three two two", ((6, 9), (10, 13)), ("one", "two"), ("four",)),
        ),
        False,
    )


def test_context_stops_at_the_ends_of_the_file(objects: Objects) -> None:
    tree = tree_of(objects, {"f": b"a\r\n\r\nx\r\nb\r\n", "g": b"x"})
    one, two = search(objects, tree, Query("x", context_before=5, context_after=5))
    assert (one.matches[0].before, one.matches[0].after) == (("a", ""), ("b",))
    assert (two.matches[0].before, two.matches[0].after) == ((), ())


def test_positions_count_characters_and_bytes_that_are_no_text_are_replaced(objects: Objects) -> None:
    tree = tree_of(objects, {"f": "äöü needle ö needle\n".encode() + b"\xff\xfe needle\n"})
    (file,) = search(objects, tree, Query("needle"))
    first, second = file.matches
    assert first == Match(1, 5, "äöü needle ö needle", ((4, 10), (13, 19)), (), ())
    assert (second.column, second.text, second.spans) == (4, "\ufffd\ufffd needle", ((3, 9),))
    for match in file.matches:
        assert {match.text[left:right] for left, right in match.spans} == {"needle"}


def test_a_long_line_is_cut_around_its_first_hit(objects: Objects) -> None:
    text = "ä" * 1000 + "needle" + "b" * 200 + "needle" + "c" * 1000 + "needle"
    tree = tree_of(objects, {"f": f"{text}\n{'d' * 3000}\n".encode()})
    (file,) = search(objects, tree, Query("needle", context_after=1))
    (match,) = file.matches
    assert match.text == "…" + "ä" * 100 + "needle" + "b" * 200 + "needle" + "c" * 188 + "…"
    assert match.column == 1001
    assert [match.text[left:right] for left, right in match.spans] == ["needle", "needle"]
    assert match.after == ("d" * 500 + "…",)


# -- where it looks and where it stops


def test_globs_choose_the_files(objects: Objects) -> None:
    tree = tree_of(objects, dict.fromkeys(("a.py", "a.txt", "src/b.py", "src/x/c.py", "test/d.py", "src/b.pyc"), b"x"))

    def paths(*include: str, exclude: tuple[str, ...] = ()) -> list[str]:
        query = Query("x", include=include, exclude=exclude)
        found = [file.path for file in search(objects, tree, query)]
        with cold():
            assert [file.path for file in search(objects, tree, query)] == found
        return found

    assert paths("*.py") == ["a.py", "src/b.py", "src/x/c.py", "test/d.py"]
    assert paths("src/*.py") == ["src/b.py"]
    assert paths("src/**/*.py") == ["src/b.py", "src/x/c.py"]
    assert paths("/*.py", "test") == ["a.py", "test/d.py"]
    assert paths("*.{txt,pyc}") == ["a.txt", "src/b.pyc"]
    assert paths("*.py", exclude=("test/", "x")) == ["a.py", "src/b.py"]
    assert paths(exclude=("*.py",)) == ["a.txt", "src/b.pyc"]


def test_limits_stop_the_search_and_say_so(objects: Objects) -> None:
    tree = tree_of(objects, dict.fromkeys("abc", b"x\nx\nx\n"))
    assert found_in(objects, tree, Query("x", max_matches=9)) == {name: [1, 2, 3] for name in "abc"}
    for query, wanted in (
        (Query("x", max_matches=4), {"a": [1, 2, 3], "b": [1]}),
        (Query("x", max_matches=6), {"a": [1, 2, 3], "b": [1, 2, 3]}),
        (Query("x+", max_matches=1, regex=True), {"a": [1]}),
    ):
        found = search(objects, tree, query).collected()
        assert (numbers(found), found.truncated) == (wanted, Limit.MATCHES)
        assert found.matches == query.max_matches
    found = search(objects, tree, Query("x", max_per_file=2)).collected()
    assert numbers(found) == {name: [1, 2] for name in "abc"}
    assert all(file.truncated for file in found.files)
    assert found.truncated is None


def test_files_that_are_too_large_are_named(objects: Objects) -> None:
    files = {"huge": b"x\n" * 600_000, "large": b"x" * 300, "small": b"x"}
    tree = tree_of(objects, files)
    pending = {"a new one": pending_file(b"x" * 300), "small": pending_file(b"xx")}
    for way in (cold, signed):
        with way():
            query = Query("x", max_file_bytes=200, include=("[a-z]*",))
            found = search(objects, tree, query, pending=pending).collected()
            assert (numbers(found), found.too_large) == ({"small": [1]}, ("a new one", "huge", "large"))
            found = search(objects, tree, Query("x")).collected()
            assert (numbers(found), found.too_large) == ({"large": [1], "small": [1]}, ("huge",))
            found = search(objects, tree, Query("x", max_file_bytes=2 << 20, max_per_file=1)).collected()
            assert (numbers(found), found.too_large) == ({"huge": [1], "large": [1], "small": [1]}, ())


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+$", r"(\w*\s*)*!$", r"a.*a.*a.*a.*a.*a.*b$", r"(a*)\1+b$"])
def test_an_expression_that_would_take_for_ever_is_ended(objects: Objects, pattern: str) -> None:
    tree = tree_of(objects, {"a": b"b aaaa b\n", "b": b"a" * 3_000 + b"?b!?\n", "c": b"b\n"})
    began = time.monotonic()
    found = search(objects, tree, Query(pattern, regex=True, max_seconds=0.6)).collected()
    assert found.truncated is Limit.TIME
    assert time.monotonic() - began < 30


def test_a_plain_expression_on_an_endless_line_is_ended_too(objects: Objects) -> None:
    tree = tree_of(objects, {"a": b"a =x\n", "b": b"a" * 900_000 + b"? =x\n", "c": b"a =x\n"})
    began = time.monotonic()
    found = search(objects, tree, Query("a+ =x", regex=True, max_seconds=1)).collected()
    assert (numbers(found), found.truncated) == ({"a": [1]}, Limit.TIME)
    assert time.monotonic() - began < 30


def test_a_helper_that_fails_is_reported(objects: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tree_of(objects, FILES)
    for program in ("/bin/false", "/nowhere/python"):
        monkeypatch.setattr(sys, "executable", program)
        with pytest.raises(HelperFailed) as caught:
            search(objects, tree, Query("(T+)+O", regex=True)).collected()
        assert caught.value.hint


def test_a_search_can_be_left_in_the_middle(objects: Objects) -> None:
    tree = tree_of(objects, {f"{n:03}": b"x%d\n" % n for n in range(300)})
    for way, pattern in ((cold, "x"), (signed, "x"), (cold, r"x\d*")):
        with way(), search(objects, tree, Query(pattern, regex=True)) as found:
            assert [next(iter(found)).path for _ in range(3)] == ["000", "001", "002"]
        assert list(found) == []


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (Query(""), "empty"),
        (Query("a\nb"), "line break"),
        (Query("a\\nb", regex=True), "line break"),
        (Query("ab(c", regex=True), "position 3"),
        (Query("(?u)a", regex=True), "incompatible"),
        (Query("(?L)a", regex=True), "position"),
        (Query("[äö]", regex=True), "ASCII"),
        (Query("(" * 5000 + ")" * 5000, regex=True), "cannot be used"),
        (Query("a{99999999999}", regex=True), "cannot be used"),
        (Query("x" * 10_001), "longer"),
        (Query("\ud800"), "Unicode"),
        (Query("x", include=("",)), "glob"),
        (Query("x", include=("[a",)), "glob"),
        (Query("x", exclude=("{a,b}" * 7,)), "braces"),
        (Query("x", max_matches=0), "max_matches"),
        (Query("x", max_seconds=0), "max_seconds"),
        (Query("x", context_after=-1), "context_after"),
        (Query("x", case="loud"), "loud"),  # type: ignore[arg-type]
    ],
)
def test_a_query_that_cannot_be_answered_says_why_before_anything_is_read(
    objects: Objects, query: Query, said: str
) -> None:
    with pytest.raises(InvalidQuery, match=said) as caught:
        search(objects, ObjectId("1" * 40), query)
    assert caught.value.hint
    assert caught.value.code == "invalid_query"


# -- the same however it is found

NAMES = st.sampled_from(["a", "b.py", "c.txt", "d/a", "d/b.py", "d/e/c.py", "d-x", "é", "d.py/z"])
CONTENTS = st.lists(
    st.sampled_from(["foo", "bar", "Foo", "FOO", "é", " ", "_", "1", "\n", "\r\n", "\t", "\0"]), max_size=12
).map(lambda parts: "".join(parts).encode())
PATTERNS = [
    *("foo", "Foo", "fo+", "foo|bar", "^foo", "bar$", r"\bfoo\b", "é", "o", r"foo\s*bar", r"[fF]oo", r"\d", "^$"),
    *(r"(?:foo|bar)\w", "foo(?!bar)", r"(foo|bar)\1", ".oo", "b.?r", "foo_1", "nowhere"),
]


@pytest.mark.req("G-02")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    base=st.dictionaries(NAMES, CONTENTS, max_size=6),
    later=st.dictionaries(NAMES, CONTENTS, max_size=3),
    pending=st.dictionaries(NAMES, st.none() | CONTENTS, max_size=4),
    pattern=st.sampled_from(PATTERNS),
    case=st.sampled_from([Case.SENSITIVE, Case.INSENSITIVE]),
    exclude=st.sampled_from([(), ("*.py",), ("d/",), ("/a", "d/**/c.*")]),
)
def test_results_are_the_same_pending_cold_half_warm_and_warm(
    objects: Objects,
    base: Mapping[str, bytes],
    later: Mapping[str, bytes],
    pending: Mapping[str, bytes | None],
    pattern: str,
    case: Case,
    exclude: tuple[str, ...],
) -> None:
    before = tree_of(objects, base)
    tree = tree_of(objects, later, base=before)
    whole: dict[str, bytes | None] = {**base, **later, **pending}
    dropped: dict[tuple[str, ...], Callable[[str], bool]] = {
        (): lambda path: False,
        ("*.py",): lambda path: ".py" in path,
        ("d/",): lambda path: path.startswith("d/"),
        ("/a", "d/**/c.*"): lambda path: path == "a" or path == "d/e/c.py",
    }
    files = {path: data for path, data in whole.items() if data is not None and not dropped[exclude](path)}
    flags = re.IGNORECASE if case == Case.INSENSITIVE else 0
    source = "(?:é|É)" if pattern == "é" and flags else pattern
    wanted = matching_lines(files, source.encode(), flags)
    query = Query(pattern, regex=True, case=case, exclude=exclude)
    changes = {path: None if data is None else pending_file(data) for path, data in pending.items()}

    def found() -> dict[str, list[int]]:
        return numbers(search(objects, tree, query, pending=changes).collected())

    with cold():
        assert found() == wanted
    with signed():
        warm(objects, before)
        assert found() == wanted
        assert is_warm(objects, tree)
        assert found() == wanted
