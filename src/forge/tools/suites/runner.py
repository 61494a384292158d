"""Test runners by name: how each reports its tests, and how one of its tests is selected."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Form(StrEnum):
    """How a runner tells what became of each test."""

    JUNIT = "junit"
    UNITTEST = "unittest"
    TAP = "tap"
    GO = "go"
    CARGO = "cargo"
    JEST = "jest"
    MOCHA = "mocha"
    RSPEC = "rspec"
    MINITEST = "minitest"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Runner:
    name: str
    pattern: str
    """Recognises the runner in a command."""
    form: Form
    report: str = ""
    """Words added to the command so that it tells of each test; `{file}` is where a report is written."""
    found: str = ""
    """Reports that the runner writes by itself: a pattern for `find -path`."""
    by_name: str = ""
    """Words that select tests by a part of their name; `{}` is the quoted name."""
    by_path: bool = False
    """Whether it takes files as words."""


RUNNERS: tuple[Runner, ...] = (
    Runner(
        "pytest",
        r"\b(?:pytest|py\.test)\b",
        Form.JUNIT,
        "--junitxml={file} -o junit_family=xunit1 --continue-on-collection-errors",
        by_name="-k {}",
        by_path=True,
    ),
    Runner("unittest", r"\bunittest\b", Form.UNITTEST, "-v", by_name="-k {}"),
    Runner("go", r"\bgo test\b", Form.GO, "-json", by_name="-run {}"),
    Runner("cargo", r"\bcargo test\b", Form.CARGO, by_name="{}"),
    Runner(
        "node",
        r"\bnode\b.*--test\b",
        Form.TAP,
        "--test-reporter=tap",
        by_name="--test-name-pattern={}",
    ),
    Runner(
        "vitest",
        r"\bvitest\b",
        Form.JEST,
        "--reporter=default --reporter=json --outputFile.json={file}",
        by_name="-t {}",
        by_path=True,
    ),
    Runner(
        "jest",
        r"\bjest\b",
        Form.JEST,
        "--json --outputFile={file} --testLocationInResults",
        by_name="-t {}",
        by_path=True,
    ),
    Runner(
        "mocha",
        r"\bmocha\b",
        Form.MOCHA,
        "--reporter json --reporter-option output={file}",
        by_name="--grep {}",
        by_path=True,
    ),
    Runner(
        "rspec",
        r"\brspec\b",
        Form.RSPEC,
        "--format progress --format json --out {file}",
        by_name="--example {}",
        by_path=True,
    ),
    Runner("phpunit", r"\bphpunit\b", Form.JUNIT, "--log-junit {file}", by_name="--filter {}", by_path=True),
    Runner("ctest", r"\bctest\b", Form.JUNIT, "--output-on-failure --output-junit {file}", by_name="-R {}"),
    Runner("maven", r"\bmvnw?\b", Form.JUNIT, found="*/target/*-reports/TEST-*.xml", by_name="-Dtest={}"),
    Runner("gradle", r"\bgradlew?\b", Form.JUNIT, found="*/build/test-results/*/TEST-*.xml", by_name="--tests {}"),
    Runner("minitest", r"\brails test\b|\brake test\b|\bruby\b.*_test\.rb", Form.MINITEST),
    Runner("deno", r"\bdeno test\b", Form.JUNIT, "--junit-path={file}", by_name="--filter {}", by_path=True),
    Runner(
        "bun", r"\bbun test\b", Form.JUNIT, "--reporter=junit --reporter-outfile={file}", by_name="-t {}", by_path=True
    ),
)

OTHER = Runner("", "", Form.TEXT)


def runner_in(command: str) -> Runner:
    """The runner that the last part of a command line names: words added to the line go there."""
    last = re.split(r"&&|\|\||;", command)[-1]
    return next((each for each in RUNNERS if re.search(each.pattern, last)), OTHER)


def runner_named(name: str) -> Runner:
    return next((each for each in RUNNERS if each.name == name), OTHER)
