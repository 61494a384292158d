"""The eight signals and what follows from them."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.deliverables.code.facts import Facts, Release, Unknown
from forge.deliverables.code.licences import LicenceKind, kind_of
from forge.deliverables.code.scorecard import (
    DECISIVE,
    Finding,
    Qualification,
    Signal,
    Verdict,
    major,
    months_before,
    qualification,
    scorecard,
)

pytestmark = pytest.mark.req("P-05")
NOW = datetime(2025, 8, 31, 12, tzinfo=UTC)
GONE = Unknown("registry not reachable")


def on(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(tzinfo=UTC)


def released(**versions: str) -> tuple[Release, ...]:
    return tuple(Release(version.strip("v").replace("_", "."), on(day)) for version, day in versions.items())


GOOD = Facts(
    releases=released(v0_9="2014-01-01", v1_0="2015-01-01", v2_0="2020-01-01", v2_1="2025-08-01"),
    last_commit=on("2025-08-20"),
    stars=500,
    weekly_downloads=1_000,
    open_issues=10,
    closed_issues=10,
    licence="MIT",
    maintainers=2,
    active=3,
)


def finding(facts: Facts, signal: Signal) -> Finding:
    return next(each for each in scorecard(facts, now=NOW).findings if each.signal is signal)


def test_the_signals_are_the_eight_in_their_order() -> None:
    card = scorecard(GOOD, now=NOW)
    assert [each.signal for each in card.findings] == [
        "Age",
        "Last Updated",
        "GitHub Stars",
        "Weekly Downloads",
        "Open Issues vs. Closed",
        "License",
        "Bus Factor",
        "Breaking Changes",
    ]
    assert card.passed == 8
    assert card.qualification is Qualification.QUALIFIED


@pytest.mark.parametrize(
    ("signal", "flagged", "passing"),
    [
        (Signal.AGE, {"releases": released(v1_0="2025-03-01")}, {"releases": released(v1_0="2025-02-28")}),
        (Signal.AGE, {"releases": released(v0_9="2014-01-01")}, {"releases": released(v1_0_post1="2014-01-01")}),
        (Signal.AGE, {"releases": released(v1_0rc1="2014-01-01")}, {"releases": released(v3_0="2014-01-01")}),
        (
            Signal.LAST_UPDATED,
            {"releases": released(v1_0="2024-08-31"), "last_commit": on("2024-08-31")},
            {"releases": released(v1_0="2024-08-31"), "last_commit": on("2024-09-01")},
        ),
        (
            Signal.LAST_UPDATED,
            {"releases": released(v1_0="2024-08-31"), "last_commit": GONE},
            {"releases": released(v1_0="2024-09-01"), "last_commit": GONE},
        ),
        (Signal.STARS, {"stars": 499}, {"stars": 500}),
        (Signal.DOWNLOADS, {"weekly_downloads": 999}, {"weekly_downloads": 1_000}),
        (Signal.ISSUES, {"open_issues": 11}, {"open_issues": 10}),
        (Signal.LICENCE, {"licence": "AGPL-3.0-only"}, {"licence": "Apache-2.0"}),
        (Signal.BUS_FACTOR, {"active": 0}, {"active": 1}),
        (
            Signal.BUS_FACTOR,
            {"active": GONE, "maintainers": 1, "releases": released(v1_0="2020-01-01"), "last_commit": GONE},
            {"active": GONE, "maintainers": 1},
        ),
        (
            Signal.BREAKING,
            {"releases": released(v1_0="2020-01-01", v2_0="2024-01-01", v3_0="2024-06-01", v4_0="2025-01-01")},
            {"releases": released(v1_0="2020-01-01", v2_0="2022-01-01", v3_0="2024-06-01", v4_0="2025-01-01")},
        ),
    ],
)
def test_each_signal_has_its_red_flag(signal: Signal, flagged: dict[str, object], passing: dict[str, object]) -> None:
    assert finding(replace(GOOD, **flagged), signal).verdict is Verdict.FLAG  # type: ignore[arg-type]
    assert finding(replace(GOOD, **passing), signal).verdict is Verdict.PASS  # type: ignore[arg-type]


def test_frequent_major_versions_with_a_migration_guide_pass() -> None:
    often = released(v1_0="2020-01-01", v2_0="2024-01-01", v3_0="2024-06-01", v4_0="2025-01-01")
    assert finding(replace(GOOD, releases=often, migration_guide=True), Signal.BREAKING).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("signal", "change"),
    [
        (Signal.AGE, {"releases": GONE}),
        (Signal.AGE, {"releases": ()}),
        (Signal.LAST_UPDATED, {"releases": GONE, "last_commit": GONE}),
        (Signal.STARS, {"stars": GONE}),
        (Signal.DOWNLOADS, {"weekly_downloads": GONE}),
        (Signal.ISSUES, {"open_issues": GONE}),
        (Signal.ISSUES, {"closed_issues": GONE}),
        (Signal.ISSUES, {"open_issues": 0, "closed_issues": 0}),
        (Signal.LICENCE, {"licence": GONE}),
        (Signal.LICENCE, {"licence": "Our own licence"}),
        (Signal.BUS_FACTOR, {"active": GONE, "maintainers": GONE}),
        (Signal.BUS_FACTOR, {"active": GONE, "maintainers": 0}),
        (Signal.BUS_FACTOR, {"active": GONE, "maintainers": 1, "releases": GONE, "last_commit": GONE}),
        (Signal.BREAKING, {"releases": GONE}),
        (Signal.BREAKING, {"releases": released(v2019_1="2019-01-01", v2024_1="2024-01-01")}),
        (Signal.BREAKING, {"releases": released(v1_0b1="2019-01-01")}),
    ],
)
def test_what_is_not_known_is_unknown_with_a_reason(signal: Signal, change: dict[str, object]) -> None:
    found = finding(replace(GOOD, **change), signal)  # type: ignore[arg-type]
    assert found.verdict is Verdict.UNKNOWN
    assert found.reason


def test_a_commit_counts_as_an_update_where_releases_are_unknown() -> None:
    found = finding(replace(GOOD, releases=GONE), Signal.LAST_UPDATED)
    assert (found.verdict, found.figure) == (Verdict.PASS, "2025-08-20")


def test_nothing_known_at_all_cannot_be_told() -> None:
    card = scorecard(Facts.unknown("registry not reachable"), now=NOW)
    assert {each.verdict for each in card.findings} == {Verdict.UNKNOWN}
    assert {each.reason for each in card.findings} == {"registry not reachable"}
    assert card.qualification is Qualification.CANNOT_TELL


def test_every_combination_of_verdicts_gives_the_result_of_the_rule() -> None:
    for verdicts in itertools.product(Verdict, repeat=8):
        findings = [Finding(signal, verdict, "", "") for signal, verdict in zip(Signal, verdicts, strict=True)]
        decisive = {each.verdict for each in findings if each.signal in DECISIVE}
        passed = verdicts.count(Verdict.PASS)
        best = passed + verdicts.count(Verdict.UNKNOWN)
        if Verdict.FLAG in decisive or best < 6:
            expected = Qualification.NOT_QUALIFIED
        elif passed >= 6 and decisive == {Verdict.PASS}:
            expected = Qualification.QUALIFIED
        else:
            expected = Qualification.CANNOT_TELL
        assert qualification(findings) is expected, verdicts


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("1.0", 1),
        ("v2.3.4", 2),
        ("1.0.post1", 1),
        ("1!3.0", 3),
        ("4.0.0+build.5", 4),
        ("1.0-1", 1),
        ("1.0rc1", None),
        ("1.0.0-beta.2", None),
        ("2.0.dev0", None),
        ("nightly", None),
        ("", None),
        ("9" * 5_000, None),
    ],
)
def test_only_finished_versions_have_a_major_number(version: str, expected: int | None) -> None:
    assert major(version) == expected


@given(st.datetimes(datetime(1980, 1, 1), datetime(2100, 1, 1)), st.integers(0, 36))  # noqa: DTZ001
def test_months_before_is_never_more_than_a_month_off(moment: datetime, months: int) -> None:
    before = months_before(moment, months)
    assert timedelta(days=28 * months) <= moment - before <= timedelta(days=31 * months + 3)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("MIT", LicenceKind.PERMISSIVE),
        ("The MIT License", LicenceKind.PERMISSIVE),
        ("MIT-0", LicenceKind.PERMISSIVE),
        ("BSD-3-Clause", LicenceKind.PERMISSIVE),
        ("3-Clause BSD License", LicenceKind.PERMISSIVE),
        ("Apache Software License", LicenceKind.PERMISSIVE),
        ("Apache License, Version 2.0", LicenceKind.PERMISSIVE),
        ("Apache-2.0 WITH LLVM-exception", LicenceKind.PERMISSIVE),
        ("Python Software Foundation License", LicenceKind.PERMISSIVE),
        ("ISC", LicenceKind.PERMISSIVE),
        ("Public Domain", LicenceKind.PERMISSIVE),
        ("MIT OR GPL-3.0-or-later", LicenceKind.PERMISSIVE),
        ("(MIT OR Apache-2.0)", LicenceKind.PERMISSIVE),
        ("MIT AND (BSD-2-Clause OR GPL-2.0-only)", LicenceKind.PERMISSIVE),
        ("GPL-3.0-or-later", LicenceKind.COPYLEFT),
        ("GPLv3", LicenceKind.COPYLEFT),
        ("GNU General Public License v3 or later (GPLv3+)", LicenceKind.COPYLEFT),
        ("GNU Affero General Public License v3", LicenceKind.COPYLEFT),
        ("AGPL-3.0", LicenceKind.COPYLEFT),
        ("MIT AND GPL-2.0-only", LicenceKind.COPYLEFT),
        ("GPL-2.0-only OR AGPL-3.0-only", LicenceKind.COPYLEFT),
        ("GPL-2.0-only WITH Classpath-exception-2.0", LicenceKind.COPYLEFT),
        ("LGPL-3.0-only", LicenceKind.OTHER),
        ("GNU Lesser General Public License v3", LicenceKind.OTHER),
        ("MPL-2.0", LicenceKind.OTHER),
        ("UNLICENSED", LicenceKind.OTHER),
        ("BSL-1.1", LicenceKind.OTHER),
        ("BSD-Protection", LicenceKind.OTHER),
        ("SEE LICENSE IN file", LicenceKind.OTHER),
        ("MIT AND Zlib A…", LicenceKind.OTHER),
        ("License", LicenceKind.OTHER),
        ("", LicenceKind.OTHER),
    ],
)
def test_licences_are_known_by_their_names_and_expressions(name: str, kind: LicenceKind) -> None:
    assert kind_of(name) is kind


@given(
    st.text("MIT GPLAND OR()Wh-3.0 ", max_size=400) | st.text(max_size=50) | st.integers(0, 400).map(lambda n: "(" * n)
)
def test_no_text_breaks_the_reading_of_licences(text: str) -> None:
    assert kind_of(text) in LicenceKind


def test_a_strict_licence_never_passes_in_a_combination() -> None:
    for one, two in itertools.product(["MIT", "Apache-2.0", "0BSD"], ["GPL-3.0-only", "AGPL-3.0-or-later"]):
        assert kind_of(f"{one} AND {two}") is kind_of(f"({two}) AND {one}") is LicenceKind.COPYLEFT
