"""The law of a line: fast ways to find matching lines agree with Python's `re` on each line alone."""

from __future__ import annotations

import re
import warnings

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from forge.git.search import signatures
from forge.git.search.lines import Finder
from forge.git.search.literals import required
from tests.git.search.oracle import matching_lines

pytestmark = pytest.mark.req("G-11")

ATOMS = [
    *("a", "b", "A", "_", "é", "-", " ", "ab", "ba", "\\.", "\\t", "\\r"),
    *("\\s", "\\S", "\\w", "\\W", "\\d", "\\D", ".", "\\b", "\\B", "^", "$", "\\A", "\\Z", "[ab]", "[^a]", "[^\\s]"),
    *("[\\W_]", "[\\D]", "[\\x00-\\x20]", "[a-f]", "[\\n]", "[\\s\\S]", "\\x80", "\\xc3", "a*+", "(?:ab)?+", "(?>a*)"),
    *("(?=a)", "(?!a)", "(?<=a)", "(?<!b)", "(?=\\s)", "(?!\\s)", "(?<!\\s)", "(?<=\\W)", "(?!$)", "(?!.)", "(?=.*b)"),
]
FLAGS = st.sampled_from([0, re.I, re.S, re.M, re.X, re.I | re.S])


def grown(pattern: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    repeat = st.sampled_from(["*", "+", "?", "{1,2}", "{2}", "*?", "+?"])
    group = st.sampled_from(
        ["(?:%s)", "(%s)", "(?i:%s)", "(?s:%s)", "(?m:%s)", "(?-m:%s)", "(?>%s)", "(?=%s)", "(?!%s)", "(%s)\\1"]
    )
    return st.one_of(
        st.lists(pattern, min_size=1, max_size=4).map("".join),
        st.lists(pattern, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(pattern, repeat).map(lambda both: f"(?:{both[0]}){both[1]}"),
        st.tuples(pattern, group).map(lambda both: both[1] % both[0]),
    )


PATTERNS = st.recursive(st.sampled_from(ATOMS), grown, max_leaves=6)
TEXTS = st.lists(
    st.sampled_from([*b"abAB_ -.1\t\r\x0b", 0x80, 0xC3, 0xA9, *([0x0A] * 4)]), max_size=24
).map(bytes)  # fmt: skip


def usable(pattern: str, flags: int) -> bytes:
    source = pattern.encode()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        try:
            re.compile(source, flags)
        except (re.error, OverflowError):
            assume(False)
    return source


@settings(max_examples=600)
@given(PATTERNS, FLAGS, TEXTS)
@example("a(?!\\s)", 0, b"a\nb")
@example("[^a]$", 0, b"a\n\nb")
@example("(?<!\\s)a", 0, b"b\na")
@example("\\Aa|b\\Z", 0, b"b\na\n")
@example("a*", 0, b"\n\nb")
@example(".", re.S, b"\n")
@example("a#\n", re.X, b"a\n")
@example("(?m:^a)", 0, b"b\na")
@example("(?-m:^a)", re.M, b"b\na")
@example("(?!\\B)", 0, b"\n")
def test_lines_are_found_in_a_whole_text_as_in_each_line_alone(pattern: str, flags: int, text: bytes) -> None:
    source = usable(pattern, flags)
    wanted = matching_lines({"f": text}, source, flags).get("f", [])
    text = text.replace(b"\r\n", b"\n")
    hits = Finder(source, flags).hits(text, 1_000)
    literals = required(source, flags)
    assert Finder(source, flags, literals.scout(), literals.folded).hits(text, 1_000) == hits
    assert [number for number, *_ in hits] == wanted
    for _, start, end, spans in hits:
        line = text[start:end]
        assert b"\n" not in line
        assert spans[0] in [match.span() for match in re.compile(source, flags).finditer(line)]


@settings(max_examples=600)
@given(PATTERNS, FLAGS, TEXTS)
@example("(?i:A)b", 0, b"aB".swapcase())
@example("ab|", 0, b"zz")
@example("(?:ab)?", 0, b"zz")
@example("(a)|b", 0, b"b")
def test_a_text_with_a_match_always_has_the_strings_read_off_the_pattern(pattern: str, flags: int, text: bytes) -> None:
    source = usable(pattern, flags)
    literals = required(source, flags)
    if matching_lines({"f": text}, source, flags):
        assert literals.test()(text)
        folded = text.lower()
        rows = set(signatures.rows(text))
        for clause in literals.clauses:
            inside = [string for string in clause if string in (folded if literals.folded else text)]
            assert any(rows.issuperset(signatures.asked(string)) for string in inside)


@pytest.mark.parametrize(
    ("pattern", "strings"),
    [
        (b"needle", [{b"needle"}]),
        (b"def foo_\\d+\\(self", [{b"def foo_"}, {b"(self"}]),
        (b"(?:foo|bar)baz", [{b"foobaz", b"barbaz"}]),
        (b"(?:foo\\d|bar\\s)baz", [{b"baz"}, {b"foo", b"bar"}]),
        (b"^import\\b", [{b"import"}]),
        (b"[Ff]oo+d", [{b"Foo", b"foo"}, {b"d"}]),
        (b"(?:abc)?d*", []),
        (b"\\w+", []),
    ],
)
def test_the_strings_that_a_pattern_needs_are_read_off_it(pattern: bytes, strings: list[set[bytes]]) -> None:
    assert sorted(map(sorted, required(pattern, 0).clauses)) == sorted(map(sorted, strings))


@given(TEXTS, st.integers(0, 30), st.integers(0, 12))
def test_every_part_of_a_text_is_in_its_signature(text: bytes, start: int, length: int) -> None:
    part = text[start : start + length].swapcase()
    assert set(signatures.rows(text)).issuperset(signatures.asked(part))


@given(st.lists(TEXTS, min_size=1, max_size=20), st.data())
def test_a_table_of_signatures_names_every_text_that_contains_a_string(texts: list[bytes], data: st.DataObject) -> None:
    part = data.draw(st.sampled_from(texts))[:8]
    table, wide = signatures.table(texts, len(texts)), signatures.width(len(texts))
    bits = -1
    for row in signatures.asked(part):
        bits &= int.from_bytes(table[row * wide : (row + 1) * wide], "little")
    ids = [bytes([number]) for number in range(len(texts))]
    named = ids if bits == -1 else list(signatures.chosen(ids, bits))
    assert {ids[number] for number, text in enumerate(texts) if part in text} <= set(named)
