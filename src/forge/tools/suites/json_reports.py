"""Reports in JSON: Go, Rust's libtest, Jest and Vitest, Mocha, RSpec."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from forge.tools.suites.cases import MOST, Case, Result, read_case, unique

_LARGEST = 20_000_000
_GO_WORDS = {"pass": Result.PASSED, "fail": Result.FAILED, "skip": Result.SKIPPED}
_LIBTEST_WORDS = {"ok": Result.PASSED, "failed": Result.FAILED, "ignored": Result.SKIPPED}
_JEST_WORDS = {"passed": Result.PASSED, "failed": Result.FAILED}


def go(output: str) -> tuple[Case, ...]:
    said: dict[str, list[str]] = {}
    found = []
    broken: dict[str, None] = {}
    for event in _lines(output):
        package = str(event.get("ImportPath") or event.get("Package") or "").partition(" ")[0]
        if not event.get("Test") and isinstance(event.get("Output"), str):
            said.setdefault(package, []).append(event["Output"])
        if not event.get("Test") and event.get("Action") == "fail":
            broken[package] = None
        name = f"{event.get('Package', '')}::{event['Test']}" if event.get("Test") else ""
        if not name:
            continue
        if event.get("Action") == "output" and isinstance(event.get("Output"), str):
            said.setdefault(name, []).append(event["Output"])
        elif event.get("Action") in _GO_WORDS:
            result = _GO_WORDS[event["Action"]]
            message = "".join(said.pop(name, ())) if result is not Result.PASSED else ""
            word = str(event["Test"])
            found.append(read_case(name, result, seconds=event.get("Elapsed"), message=message, selector=word))
    failing = {each.name.partition("::")[0] for each in found if each.result is Result.FAILED}
    found += [_unbuilt(each, "".join(said.get(each, ()))) for each in broken if each not in failing]
    return unique(found)


def _unbuilt(package: str, message: str) -> Case:
    """A package that fails without a failing test was not built, or its process ended."""
    return read_case(package, Result.FAILED, message=message, broken=True)


def go_text(output: str) -> str:
    """What `go test` prints for people, out of its JSON; lines of another form stay."""
    parts = []
    for line in output.splitlines(keepends=True):
        event = _event(line)
        if event is None:
            parts.append(line)
        elif event.get("Action") == "output" and isinstance(event.get("Output"), str):
            parts.append(event["Output"])
    return "".join(parts)


def libtest(output: str) -> tuple[Case, ...]:
    """`cargo test` with `--format json`, and `cargo nextest` with `--message-format libtest-json`."""
    return unique(
        read_case(
            str(event["name"]),
            _LIBTEST_WORDS[event["event"]],
            seconds=event.get("exec_time"),
            message=event.get("stdout") or event.get("message") or "",
            selector=str(event["name"]),
        )
        for event in _lines(output)
        if event.get("type") == "test" and event.get("event") in _LIBTEST_WORDS and event.get("name")
    )


def jest(report: str) -> tuple[Case, ...]:
    """Also Vitest, whose JSON has the same form."""
    return unique(each for suite in _list(_document(report), "testResults") for each in _jest_file(suite))


def _jest_file(suite: dict[str, Any]) -> Iterator[Case]:
    tests = _list(suite, "assertionResults")
    file = suite.get("name")
    if not tests and suite.get("status") == "failed":
        yield read_case(f"{file}", Result.FAILED, file=file, message=suite.get("message"), broken=True)
    for test in tests:
        around = [str(each) for each in test.get("ancestorTitles") or () if each]
        title = str(test.get("title") or test.get("fullName") or "")
        place = test.get("location")
        taken = test.get("duration")
        yield read_case(
            " > ".join([*around, title]),
            _JEST_WORDS.get(str(test.get("status")), Result.SKIPPED),
            file=file,
            line=place.get("line") if isinstance(place, dict) else 0,
            seconds=taken / 1000 if isinstance(taken, int | float) else None,
            message="\n".join(map(str, test.get("failureMessages") or ())),
            selector=" ".join([*around, title]),
        )


def mocha(report: str) -> tuple[Case, ...]:
    document = _document(report)
    failed = {str(test.get("fullTitle")) for test in _list(document, "failures")}
    pending = {str(test.get("fullTitle")) for test in _list(document, "pending")}
    return unique(_mocha_case(test, failed, pending) for test in _list(document, "tests"))


def _mocha_case(test: dict[str, Any], failed: set[str], pending: set[str]) -> Case:
    full = str(test.get("fullTitle") or test.get("title") or "")
    error = test.get("err")
    taken = test.get("duration")
    result = Result.FAILED if full in failed else Result.SKIPPED if full in pending else Result.PASSED
    return read_case(
        full,
        result,
        file=test.get("file"),
        seconds=taken / 1000 if isinstance(taken, int | float) else None,
        message=(error.get("stack") or error.get("message") or "") if isinstance(error, dict) else "",
        selector=full,
    )


def rspec(report: str) -> tuple[Case, ...]:
    words = {"passed": Result.PASSED, "failed": Result.FAILED}
    return unique(
        read_case(
            str(test.get("full_description") or test.get("description") or ""),
            words.get(str(test.get("status")), Result.SKIPPED),
            file=str(test.get("file_path") or "").removeprefix("./"),
            line=test.get("line_number"),
            seconds=test.get("run_time"),
            message=_ruby_error(test.get("exception")),
            selector=f"{test.get('file_path')}:{test.get('line_number')}",
        )
        for test in _list(_document(report), "examples")
    )


def _ruby_error(error: object) -> str:
    if not isinstance(error, dict):
        return ""
    frames = error.get("backtrace")
    return "\n".join([str(error.get("message") or ""), *map(str, frames if isinstance(frames, list) else ())])


def _lines(output: str) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(output.splitlines()):
        if number > 50 * MOST:
            return
        event = _event(line)
        if event is not None:
            yield event


def _event(line: str) -> dict[str, Any] | None:
    if not line.startswith("{"):
        return None
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def _document(report: str) -> dict[str, Any]:
    if len(report) > _LARGEST:
        return {}
    return _event(report.strip()) or {}


def _list(document: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found = document.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
