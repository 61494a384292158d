"""Which rows of docs/requirements.txt are proven by passing tests: a pytest plugin around `@pytest.mark.req`.

`--coverage-of-requirements` prints the table after the run. A row is proven when one of its tests passed
and none failed. It works under xdist because the ids travel with each report to the process that prints.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest


@dataclass(slots=True)
class Row:
    title: str
    passed: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)

    @property
    def state(self) -> str:
        if self.failed:
            return "failing"
        return "proven" if self.passed else "no passing test"


def read_rows(path: Path) -> dict[str, Row]:
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    pairs = (line.split(maxsplit=1) for line in lines if line and not line.startswith("#"))
    return {row_id: Row(title) for row_id, title in pairs}


def marked_ids(item: pytest.Item) -> tuple[str, ...]:
    return tuple(str(row_id) for mark in item.iter_markers("req") for row_id in mark.args)


def unknown_ids(items: Iterable[pytest.Item], rows: Mapping[str, Row]) -> tuple[str, ...]:
    return tuple(
        f"{item.nodeid}: {row_id!r} is not a row of docs/requirements.txt"
        for item in items
        for row_id in marked_ids(item)
        if row_id not in rows
    )


class RequirementsReport:
    """Checks the markers while tests are collected and counts their outcomes as they arrive."""

    def __init__(self, rows: dict[str, Row]) -> None:
        self.rows = rows

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self,
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        items = [node for node in report.result or () if isinstance(node, pytest.Item)]
        if wrong := unknown_ids(items, self.rows):
            report.outcome = "failed"
            report.longrepr = "\n".join(wrong)
            report.result = []
        for item in items:
            item.user_properties.extend(("req", row_id) for row_id in marked_ids(item))
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, value in report.user_properties:
            if name != "req":
                continue
            row = self.rows[str(value)]
            if report.failed:
                row.failed.add(report.nodeid)
            elif report.passed and report.when == "call":
                row.passed.add(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        if not config.getoption("coverage_of_requirements"):
            return
        terminalreporter.section("requirements")
        for row_id, row in self.rows.items():
            counts = f"{len(row.passed)} passed, {len(row.failed)} failed"
            terminalreporter.write_line(f"{row_id}  {row.state:<15}  {counts:<20}  {row.title}")
        proven = sum(row.state == "proven" for row in self.rows.values())
        failing = sum(row.state == "failing" for row in self.rows.values())
        without = len(self.rows) - proven - failing
        terminalreporter.write_line(f"{proven} proven, {failing} failing, {without} without a passing test")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--coverage-of-requirements",
        action="store_true",
        help="print which rows of docs/requirements.txt have a passing test and which have none",
    )


def pytest_configure(config: pytest.Config) -> None:
    rows = read_rows(config.rootpath / "docs" / "requirements.txt")
    config.pluginmanager.register(RequirementsReport(rows), "requirements-report")
