"""What became of each test, read from what a runner reports: JUnit XML, TAP, Go's JSON, and verbose text.

A report comes out of the sandbox and is only as true as the tests: it names tests, the exit code decides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from xml.etree import ElementTree as ET

from forge.tools.suites.discovery import Form

_LARGEST = 20_000_000
_MOST = 100_000


class Result(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


Results = Mapping[str, Result]


def results(form: Form, output: str, report: str) -> Results:
    """By the name of the test. Empty where the runner did not say, or not in the form that was expected."""
    match form:
        case Form.JUNIT:
            return junit(report)
        case Form.UNITTEST:
            return _lines(output, _UNITTEST, _UNITTEST_WORDS)
        case Form.TAP:
            return tap(output)
        case Form.GO:
            return go_json(output)
        case Form.CARGO:
            return _lines(output, _CARGO, _CARGO_WORDS)
        case Form.TEXT:
            return tap(output) or _lines(output, _TICKS, _TICK_WORDS)


def junit(report: str) -> Results:
    # Entities are a way to make a small file huge; no runner needs them.
    if not report.strip() or len(report) > _LARGEST or "<!DOCTYPE" in report or "<!ENTITY" in report:
        return {}
    try:
        root = ET.fromstring(report)  # noqa: S314 - no document type, so nothing to expand
    except ET.ParseError:
        return {}
    found: dict[str, Result] = {}
    for case in root.iter("testcase"):
        name = "::".join(filter(None, (case.get("classname"), case.get("name")))) or "(unnamed)"
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            found[name] = Result.FAILED
        else:
            found.setdefault(name, Result.SKIPPED if "skipped" in kinds else Result.PASSED)
        if len(found) >= _MOST:
            break
    return found


_TAP = re.compile(r"^(\s*)(not )?ok \d+(?: -)? *(.*?)(?:\s+#\s*(\w+).*)?$", re.MULTILINE)


def tap(output: str) -> Results:
    """Each test under the name of those around it. A parent follows its children in TAP, indented less."""
    if not re.search(r"^(?:TAP version \d+|1\.\.\d+)\s*$", output, re.MULTILINE):
        return {}
    found: dict[str, Result] = {}
    children: list[tuple[int, str, Result]] = []
    for line in _TAP.finditer(output):
        depth, name = len(line[1].expandtabs(4)), line[3].strip() or "(unnamed)"
        directive = (line[4] or "").lower()
        result = Result.SKIPPED if directive in ("skip", "todo") else Result.FAILED if line[2] else Result.PASSED
        inside = [each for each in children if each[0] > depth]
        children = [each for each in children if each[0] <= depth]
        if inside:
            children += [(depth, f"{name} > {child}", what) for _, child, what in inside]
        else:
            children.append((depth, name, result))
        if len(children) > _MOST:
            break
    for _, name, result in children:
        if found.get(name) is not Result.FAILED:
            found[name] = result
    return found


_GO_WORDS = {"pass": Result.PASSED, "fail": Result.FAILED, "skip": Result.SKIPPED}


def go_json(output: str) -> Results:
    found: dict[str, Result] = {}
    for line in output.splitlines():
        if not line.startswith("{"):
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and event.get("Test") and event.get("Action") in _GO_WORDS:
            found[f"{event.get('Package', '')}::{event['Test']}"] = _GO_WORDS[event["Action"]]
    return found


_UNITTEST = re.compile(
    r"^(\w+) \(([\w.<>]+)\)[^\n]*?(?:\n[^\n]*?)?"
    r" \.\.\. (ok|FAIL|ERROR|skipped|expected failure|unexpected success)",
    re.MULTILINE,
)
_UNITTEST_WORDS = {
    "ok": Result.PASSED,
    "FAIL": Result.FAILED,
    "ERROR": Result.FAILED,
    "skipped": Result.SKIPPED,
    "expected failure": Result.SKIPPED,
    "unexpected success": Result.FAILED,
}
_CARGO = re.compile(r"^test (\S+)()(?: - \S+)? \.\.\. (ok|FAILED|ignored)", re.MULTILINE)
_CARGO_WORDS = {"ok": Result.PASSED, "FAILED": Result.FAILED, "ignored": Result.SKIPPED}
_TICKS = re.compile(r"^\s*([✓✔√✕✖×✗○])\s+(.*?)(?: \(\d+(?:\.\d+)? ?m?s\))?$", re.MULTILINE)
_TICK_WORDS = {
    **dict.fromkeys("✓✔√", Result.PASSED),
    **dict.fromkeys("✕✖×✗", Result.FAILED),
    "○": Result.SKIPPED,
}


def _lines(output: str, pattern: re.Pattern[str], words: Mapping[str, Result]) -> Results:
    found: dict[str, Result] = {}
    for line in pattern.finditer(output):
        if pattern is _TICKS:
            name, said = line[2], line[1]
        else:
            name = line[2] if line[2].endswith(f".{line[1]}") else "::".join(filter(None, (line[2], line[1])))
            said = line[3]
        if found.get(name) is not Result.FAILED:
            found[name] = words[said]
        if len(found) >= _MOST:
            break
    return found
