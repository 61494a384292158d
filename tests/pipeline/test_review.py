"""Raw answers of agents become issues, or a sentence that tells the agent what was wrong."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from forge.agents.answer_object import objects
from forge.deliverables.code.review import CodeReview
from forge.deliverables.plan.review import PlanReview
from forge.pipeline.guards import Counts
from forge.pipeline.review import MAX_ISSUES, MAX_TEXT, parse_review
from forge.plugins.roles import Issue, Severity
from forge.projects.errors import AnswerMalformed

pytestmark = pytest.mark.req("P-09")


def finding(severity: str = "minor", description: str = "slow") -> dict[str, Any]:
    return {"severity": severity, "description": description, "location": "a.py:1", "recommendation": "cache"}


def review(*issues: dict[str, Any], **other: Any) -> dict[str, Any]:
    return {"critical": 0, "medium": 0, "minor": 0, "issues": list(issues), **other}


def refused(raw: str, schema: type[BaseModel] = PlanReview) -> str:
    with pytest.raises(AnswerMalformed) as error:
        parse_review(raw, schema)
    assert "one JSON object" in error.value.hint
    return error.value.message


GOOD = json.dumps(review(finding()))
ISSUE = Issue(Severity.MINOR, "slow", "a.py:1", "cache")


@pytest.mark.parametrize(
    "raw",
    [
        GOOD,
        f"\n{GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"Here is what I {{found}} and {{}}:\n\n```\n{json.dumps(json.loads(GOOD), indent=2)}\n```\nThat is all.",
        f"\ufeff{GOOD}",
    ],
)
def test_prose_and_fences_around_the_object_do_not_matter(raw: str) -> None:
    assert parse_review(raw, PlanReview) == (ISSUE,)


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ("", "no JSON object"),
        ("All is well.", "no JSON object"),
        ("[]", "no JSON object"),
        (GOOD[:-3], "broken"),
        ("Look:\n" + GOOD[: len(GOOD) // 2], "begins in line 2 is broken"),
        (GOOD.replace('"minor": 0,', '"minor": 0,,'), "broken"),
        (GOOD.replace('"minor": 0', '"minor": NaN'), "NaN is not JSON"),
        (GOOD.replace('"issues"', '"issues": [], "issues"'), "'issues' occurs twice"),
        ('{"a":' * 100_000, "nested too deeply"),
        (json.dumps(review(finding("tiny"))), "issues[0].severity"),
        (json.dumps(review({"severity": "minor"})), "issues[0].description"),
        (json.dumps({"critical": 0}), "issues"),
        (json.dumps(review(critical=2)), "The counts name 2 issues"),
        (json.dumps(review(critical=-1)), "critical"),
        (json.dumps(review(issues={})), "issues"),
        (GOOD.replace("slow", "\\ud800"), "does not fit"),
        (GOOD.replace('"minor": 0', f'"minor": {"9" * 5000}'), "broken"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(raw: str, told: str) -> None:
    assert told in refused(raw)


def test_the_refusal_does_not_repeat_what_was_answered() -> None:
    assert "sekret" not in refused(json.dumps(review(finding("sekret"), critical="sekret")))


def test_many_problems_are_counted_and_not_all_told() -> None:
    told = refused(json.dumps(review(*[finding("tiny")] * 25)))
    assert "And 15 more." in told


def test_code_reviews_tell_of_tests_as_well() -> None:
    tests = {"total": 1, "passed": 0, "failed": 1}
    assert parse_review(json.dumps(review(finding(), tests=tests)), CodeReview) == (ISSUE,)


def test_there_are_limits_whatever_the_schema_says() -> None:
    assert len(parse_review(json.dumps(review(*[finding()] * MAX_ISSUES)), PlanReview)) == MAX_ISSUES
    assert str(MAX_ISSUES) in refused(json.dumps(review(*[finding()] * (MAX_ISSUES + 1))))
    assert parse_review(json.dumps(review(finding(description="x" * MAX_TEXT))), PlanReview)
    assert "issues[0].description" in refused(json.dumps(review(finding(description="x" * (MAX_TEXT + 1)))))
    assert "characters" in refused("x" * 20_000_000)


def test_a_schema_without_issues_is_no_review() -> None:
    class Opinion(BaseModel):
        critical: int

    assert "issues" in refused(GOOD, Opinion)


severities = st.lists(st.sampled_from(["critical", "medium", "minor"]), max_size=12)


@given(severities, st.tuples(*[st.integers(0, 99)] * 3))
def test_counts_come_from_the_issues_alone(found: list[str], claimed: tuple[int, int, int]) -> None:
    raw = review(*map(finding, found), critical=claimed[0], medium=claimed[1], minor=claimed[2])
    if any(claimed) and not found:
        assert "the list of issues is empty" in refused(json.dumps(raw))
        return
    counts = Counts.of(1, parse_review(json.dumps(raw), PlanReview))
    assert dict(counts.by_severity) == {name: found.count(name) for name in ("critical", "medium", "minor")}


words = st.text(max_size=6)
json_values = (
    st.none() | st.integers() | words | st.lists(words, max_size=2) | st.dictionaries(words, words, max_size=2)
)


@given(
    st.dictionaries(words, json_values, min_size=1, max_size=3),
    st.text("ab {}\n`[]:,1", max_size=20),
    st.text("ab {}\n`[]:,1", max_size=20),
)
def test_an_object_is_found_in_any_prose(value: dict[str, Any], before: str, after: str) -> None:
    text = json.dumps(value)
    assert [*objects(f"{before}.{text}{after}")] == [value]


@given(st.text())
def test_any_text_gives_objects_or_is_refused(raw: str) -> None:
    with suppress(AnswerMalformed):
        assert all(isinstance(found, dict) for found in objects(raw))
