"""Which expressions may run without a guard: only those that no line can keep busy for long."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from forge.git.search.effort import has_long_line, is_tame, repeats
from forge.git.search.lines import sre

pytestmark = pytest.mark.req("G-11")


@pytest.mark.parametrize(
    "pattern",
    [
        r"needle",
        r"foo|bar|baz",
        r"def \w+\(",
        r"^\s*(\w+)\s*=\s*\d+$",
        r"foo.*bar",
        r"\bclass\s+[A-Z]\w*",
        r"(?:ab)+c",
        r"\d{4}-\d{2}-\d{2}",
        r"colou?r",
        r'"[^"]*"',
    ],
)
def test_everyday_expressions_are_tame(pattern: str) -> None:
    assert is_tame(sre.parse(pattern.encode()))


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+",
        r"(a*)*b",
        r"(a|aa)+$",
        r"(?:ab|a)*x",
        r"a.*b.*c",
        r"\s*\w*\s*$",
        r"(a)\1*b",
        r"(\w+)\s\1",
        r"(?=.*a.*b)c",
        r"a?" * 20 + "a" * 20,
        r"(?:ab|ab)" * 9,
        r"(a?){30}a{30}",
        r"\w+\w+",
        r"[a-z]+[A-Z]+",
        r"(?:a{1,9}){1,9}",
    ],
)
def test_expressions_with_many_ways_through_a_line_are_not(pattern: str) -> None:
    assert not is_tame(sre.parse(pattern.encode()))


ATOMS = ["a", "b", "ab", ".", "[ab]", "[^a]", r"\w", r"\s", "$", r"\b", "^", " "]


def grown(pattern: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    repeat = st.sampled_from(["*", "+", "?", "{1,3}", "{2}", "*?", "+?", "{3,}"])
    return st.one_of(
        st.lists(pattern, min_size=1, max_size=4).map("".join),
        st.lists(pattern, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(pattern, repeat).map(lambda both: f"(?:{both[0]}){both[1]}"),
        pattern.map(lambda part: f"({part})"),
    )


@settings(max_examples=300)
@given(
    st.recursive(st.sampled_from(ATOMS), grown, max_leaves=8),
    st.sampled_from(["a", "b", "ab", "a ", "aab", " "]),
    st.sampled_from(["", "!", "b", " !"]),
)
def test_a_tame_expression_is_quick_on_every_line(pattern: str, unit: str, end: str) -> None:
    source = pattern.encode()
    assume(is_tame(sre.parse(source)))
    line = (unit * 2_000)[:2_000].encode() + end.encode()
    began = time.process_time()
    re.compile(source).search(line)
    assert time.process_time() - began < 3


def test_repetitions_are_seen_at_any_depth() -> None:
    assert repeats(sre.parse(rb"(?:x|(y(?=z+)))"))
    assert repeats(sre.parse(rb"(x)\1"))
    assert not repeats(sre.parse(rb"(?:x|(y(?=z{2})))"))


def test_a_long_line_is_one_of_more_than_four_thousand_bytes() -> None:
    assert not has_long_line(b"x" * 4096 + b"\n" + b"x" * 4096)
    assert has_long_line(b"y\n" + b"x" * 4097 + b"\nz")
