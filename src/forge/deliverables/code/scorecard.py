"""Whether an open-source component can be relied on: eight signals from what is known about it, and one result."""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from forge.deliverables.code.facts import Facts, Unknown
from forge.deliverables.code.licences import LicenceKind, kind_of

ENOUGH = 6
"""Signals that have to pass, of eight."""
YOUNG_MONTHS, STALE_MONTHS, BUMP_MONTHS = 6, 12, 24
FEW_STARS, FEW_DOWNLOADS, MANY_MAJORS = 500, 1_000, 3
_VERSION = re.compile(r"v?(?:\d+!)?(\d+)(?:\.\d+)*(.*)", re.DOTALL)
_FINISHED = re.compile(r"(?:[.-]?post\.?\d*|-\d+)?(?:\+.*)?", re.DOTALL)
_FIRST_YEAR = 1990
"""A version that begins with a number from here on is a date."""


class Signal(StrEnum):
    AGE = "Age"
    LAST_UPDATED = "Last Updated"
    STARS = "GitHub Stars"
    DOWNLOADS = "Weekly Downloads"
    ISSUES = "Open Issues vs. Closed"
    LICENCE = "License"
    BUS_FACTOR = "Bus Factor"
    BREAKING = "Breaking Changes"


DECISIVE = frozenset({Signal.AGE, Signal.LAST_UPDATED, Signal.LICENCE})
"""A red flag on one of these decides alone."""


class Verdict(StrEnum):
    PASS = "pass"  # noqa: S105
    FLAG = "flag"
    UNKNOWN = "unknown"


class Qualification(StrEnum):
    QUALIFIED = "qualified"
    NOT_QUALIFIED = "not qualified"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True)
class Finding:
    signal: Signal
    verdict: Verdict
    figure: str
    """Empty where it is unknown."""
    reason: str


@dataclass(frozen=True, slots=True)
class Scorecard:
    findings: tuple[Finding, ...]
    qualification: Qualification

    @property
    def passed(self) -> int:
        return sum(finding.verdict is Verdict.PASS for finding in self.findings)


def scorecard(facts: Facts, *, now: datetime) -> Scorecard:
    """All eight signals in their order. `now` knows its time zone."""
    findings = (
        _age(facts, now),
        _last_updated(facts, now),
        _at_least(Signal.STARS, facts.stars, FEW_STARS, "stars"),
        _at_least(Signal.DOWNLOADS, facts.weekly_downloads, FEW_DOWNLOADS, "downloads a week"),
        _issues(facts),
        _licence(facts),
        _bus_factor(facts, now),
        _breaking(facts, now),
    )
    return Scorecard(findings, qualification(findings))


def qualification(findings: Sequence[Finding]) -> Qualification:
    """What is unknown is never taken as passed, nor as the absence of a red flag that would decide alone."""
    by_verdict = {verdict: {f.signal for f in findings if f.verdict is verdict} for verdict in Verdict}
    passed, unknown = by_verdict[Verdict.PASS], by_verdict[Verdict.UNKNOWN]
    if by_verdict[Verdict.FLAG] & DECISIVE or len(passed) + len(unknown) < ENOUGH:
        return Qualification.NOT_QUALIFIED
    if len(passed) >= ENOUGH and not unknown & DECISIVE:
        return Qualification.QUALIFIED
    return Qualification.CANNOT_TELL


def major(version: str) -> int | None:
    """The first number of a finished version; None for one that is not finished, or no version at all."""
    found = _VERSION.fullmatch(version.strip())
    if found is None or not _FINISHED.fullmatch(found[2]) or len(found[1]) > 9:
        return None
    return int(found[1])


def months_before(moment: datetime, months: int) -> datetime:
    years, month = divmod(moment.year * 12 + moment.month - 1 - months, 12)
    day = min(moment.day, calendar.monthrange(years, month + 1)[1])
    return moment.replace(year=years, month=month + 1, day=day)


def _unknown(signal: Signal, reason: str, figure: str = "") -> Finding:
    return Finding(signal, Verdict.UNKNOWN, figure, reason)


def _judged(signal: Signal, figure: str, *, flagged: bool, reason: str) -> Finding:
    return Finding(signal, Verdict.FLAG if flagged else Verdict.PASS, figure, reason)


def _age(facts: Facts, now: datetime) -> Finding:
    if isinstance(facts.releases, Unknown):
        return _unknown(Signal.AGE, facts.releases.reason)
    if not facts.releases:
        return _unknown(Signal.AGE, "no releases are listed")
    grown = [release for release in facts.releases if (major(release.version) or 0) >= 1]
    if not grown:
        begun = min(release.published for release in facts.releases)
        reason = "there is no version 1.0 yet"
        return _judged(Signal.AGE, f"first release {begun:%Y-%m-%d}", flagged=True, reason=reason)
    first = min(grown, key=lambda release: release.published)
    young = first.published > months_before(now, YOUNG_MONTHS)
    reason = f"{'less' if young else 'not less'} than {YOUNG_MONTHS} months old"
    return _judged(Signal.AGE, f"{first.version} on {first.published:%Y-%m-%d}", flagged=young, reason=reason)


def _changed(facts: Facts) -> datetime | Unknown:
    """When it was last touched: the newest release or commit, whichever is known and later."""
    if isinstance(facts.releases, Unknown):
        return facts.last_commit if isinstance(facts.last_commit, datetime) else facts.releases
    known = [release.published for release in facts.releases]
    if isinstance(facts.last_commit, datetime):
        known.append(facts.last_commit)
    return max(known, default=Unknown("no releases are listed"))


def _last_updated(facts: Facts, now: datetime) -> Finding:
    changed = _changed(facts)
    if isinstance(changed, Unknown):
        return _unknown(Signal.LAST_UPDATED, changed.reason)
    stale = changed <= months_before(now, STALE_MONTHS)
    reason = f"{'no' if stale else 'an'} update within {STALE_MONTHS} months"
    return _judged(Signal.LAST_UPDATED, f"{changed:%Y-%m-%d}", flagged=stale, reason=reason)


def _at_least(signal: Signal, figure: int | Unknown, least: int, what: str) -> Finding:
    if isinstance(figure, Unknown):
        return _unknown(signal, figure.reason)
    few = figure < least
    return _judged(signal, f"{figure:,}", flagged=few, reason=f"{'under' if few else 'at least'} {least:,} {what}")


def _issues(facts: Facts) -> Finding:
    given, done = facts.open_issues, facts.closed_issues
    if isinstance(given, Unknown):
        return _unknown(Signal.ISSUES, given.reason)
    if isinstance(done, Unknown):
        return _unknown(Signal.ISSUES, done.reason)
    figure = f"{given:,} open, {done:,} closed"
    if not given and not done:
        return _unknown(Signal.ISSUES, "nobody has reported an issue", figure)
    more = given > done
    return _judged(Signal.ISSUES, figure, flagged=more, reason=f"{'more' if more else 'not more'} open than closed")


def _licence(facts: Facts) -> Finding:
    if isinstance(facts.licence, Unknown):
        return _unknown(Signal.LICENCE, facts.licence.reason)
    match kind_of(facts.licence):
        case LicenceKind.PERMISSIVE:
            return _judged(Signal.LICENCE, facts.licence, flagged=False, reason="a permissive licence")
        case LicenceKind.COPYLEFT:
            return _judged(Signal.LICENCE, facts.licence, flagged=True, reason="GPL or AGPL may conflict with shipping")
        case LicenceKind.OTHER:
            reason = "neither known as permissive nor GPL or AGPL: a person has to read it"
            return _unknown(Signal.LICENCE, reason, facts.licence)


def _bus_factor(facts: Facts, now: datetime) -> Finding:
    if isinstance(facts.active, int):
        people = f"{facts.active} active"
        reason = _people(facts.active, f"changed it within {STALE_MONTHS} months")
        return _judged(Signal.BUS_FACTOR, people, flagged=facts.active == 0, reason=reason)
    if isinstance(facts.maintainers, Unknown):
        return _unknown(Signal.BUS_FACTOR, facts.maintainers.reason)
    figure = f"{facts.maintainers} named"
    if facts.maintainers == 0:
        return _unknown(Signal.BUS_FACTOR, "nobody is named as maintainer", figure)
    if facts.maintainers > 1:
        return _judged(Signal.BUS_FACTOR, figure, flagged=False, reason="more than one maintainer")
    changed = _last_updated(facts, now)
    if changed.verdict is Verdict.UNKNOWN:
        return _unknown(Signal.BUS_FACTOR, f"one maintainer, activity unknown: {changed.reason}", figure)
    idle = changed.verdict is Verdict.FLAG
    reason = f"one maintainer, {'no' if idle else 'some'} activity within {STALE_MONTHS} months"
    return _judged(Signal.BUS_FACTOR, figure, flagged=idle, reason=reason)


def _people(count: int, did: str) -> str:
    return f"{'nobody' if count == 0 else 'one person' if count == 1 else f'{count} people'} {did}"


def _breaking(facts: Facts, now: datetime) -> Finding:
    if isinstance(facts.releases, Unknown):
        return _unknown(Signal.BREAKING, facts.releases.reason)
    first: dict[int, datetime] = {}
    for release in facts.releases:
        number = major(release.version)
        if number is not None:
            first[number] = min(release.published, first.get(number, release.published))
    if not first:
        return _unknown(Signal.BREAKING, "no finished version is listed")
    if max(first) >= _FIRST_YEAR:
        return _unknown(Signal.BREAKING, "versions are dates and tell nothing about breaking changes", f"{max(first)}")
    since = months_before(now, BUMP_MONTHS)
    # The very first version breaks nothing.
    recent = sum(when > since for number, when in first.items() if number and number != min(first))
    figure = f"new major versions in {BUMP_MONTHS} months: {recent}"
    if recent < MANY_MAJORS:
        return _judged(Signal.BREAKING, figure, flagged=False, reason="major versions are rare")
    if facts.migration_guide:
        return _judged(Signal.BREAKING, figure, flagged=False, reason="frequent, with a migration guide")
    return _judged(Signal.BREAKING, figure, flagged=True, reason="frequent major versions, no migration guide named")
