"""What became of each test, read from what a runner reports in its own form.

A report comes out of the sandbox and is only as true as the tests: it names tests, the exit code decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

from forge.tools.suites import json_reports, text_reports
from forge.tools.suites.cases import MOST, Case, Result, Results, by_name, read_case, unique
from forge.tools.suites.runner import Form

__all__ = ["Result", "Results", "cases", "junit", "tap"]

_LARGEST = 20_000_000


def cases(form: Form, output: str, report: str) -> tuple[Case, ...]:
    """Each test once. Empty where the runner did not say, or not in the form that was expected."""
    match form:
        case Form.JUNIT:
            return junit(report)
        case Form.TAP:
            return tap(output)
        case Form.GO:
            return json_reports.go(output)
        case Form.CARGO:
            return json_reports.libtest(output) or text_reports.cargo(output)
        case Form.JEST:
            return json_reports.jest(report)
        case Form.MOCHA:
            return json_reports.mocha(report)
        case Form.RSPEC:
            return json_reports.rspec(report)
        case Form.UNITTEST:
            return text_reports.unittest(output)
        case Form.MINITEST:
            return text_reports.minitest(output)
        case Form.TEXT:
            return tap(output) or text_reports.ticks(output) or text_reports.automake(output)


def results(form: Form, output: str, report: str) -> Results:
    return by_name(cases(form, output, report))


def junit(report: str) -> tuple[Case, ...]:
    """One document, or several, one after the other."""
    return unique(each for text in _documents(report) for each in _junit(text))


def _documents(report: str) -> list[str]:
    # Entities are a way to make a small file huge; no runner needs them.
    if not report.strip() or len(report) > _LARGEST or "<!DOCTYPE" in report or "<!ENTITY" in report:
        return []
    return [text for text in re.split(r"(?=<\?xml )", report) if text.strip()]


def _junit(text: str) -> Iterator[Case]:
    try:
        root = ET.fromstring(text.strip())  # noqa: S314 - no document type, so nothing to expand
    except (ET.ParseError, ValueError):
        return
    files = {id(each): suite.get("file", "") for suite in root.iter("testsuite") for each in suite.iter("testcase")}
    for node in root.iter("testcase"):
        yield _testcase(node, files.get(id(node), ""))


def _testcase(node: ET.Element, file: str) -> Case:
    name = "::".join(filter(None, (node.get("classname"), node.get("name")))) or "(unnamed)"
    kinds = {child.tag: child for child in node}
    failed = kinds.get("failure", kinds.get("error"))
    skipped = kinds.get("skipped")
    # CTest marks a test that did not start by its status.
    broken = failed is None and skipped is None and node.get("status") == "fail"
    told = failed if failed is not None else skipped
    result = Result.FAILED if failed is not None or broken else Result.SKIPPED if told is not None else Result.PASSED
    message = "" if told is None else "\n".join(filter(None, (told.get("message"), told.text)))
    if result is Result.FAILED and not message.strip():
        message = node.findtext("system-out") or ""
    own = node.get("file") or file
    line = node.get("line", "")
    # pytest counts lines from 0.
    number = int(line) + 1 if own.endswith(".py") and line.isascii() and line.isdigit() and len(line) < 10 else line
    unloaded = failed is not None and failed.get("message") == "collection failure" and not node.get("classname")
    return read_case(
        own or name if unloaded else name,
        result,
        file=own,
        line=number,
        seconds=node.get("time"),
        message=message,
        selector=own if unloaded else _pytest_id(node, own),
        broken=unloaded,
    )


def _pytest_id(node: ET.Element, file: str) -> str:
    """`tests/test_a.py::TestA::test_b`, which pytest takes as a word."""
    if not file.endswith(".py"):
        return ""
    module = file.removesuffix(".py").replace("/", ".").lstrip(".")
    owner = (node.get("classname") or "").removeprefix(module).strip(".")
    return "::".join([file, *filter(None, owner.split(".")), node.get("name") or ""])


_TAP = re.compile(r"^([ \t]*)(not )?ok \d+(?: -)? *(.*?)(?:\s+#\s*(\w+).*)?$", re.MULTILINE)
_TAP_DETAILS = re.compile(r"\A[ \t]*\n[ \t]+---\n(.*?)\n[ \t]+\.\.\.", re.DOTALL)
_TAP_PLACE = re.compile(r"^\s*location: '?(?:file://)?(.+?):(\d+):\d+'?\s*$", re.MULTILINE)
_TAP_SECONDS = re.compile(r"^\s*duration_ms: ([\d.]+)", re.MULTILINE)
_LONGEST_DETAILS = 20_000


def tap(output: str) -> tuple[Case, ...]:
    """Each test under the name of those around it. A parent follows its children in TAP, indented less."""
    if not re.search(r"^(?:TAP version \d+|1\.\.\d+)\s*$", output, re.MULTILINE):
        return ()
    children: list[tuple[int, Case]] = []
    for line in _TAP.finditer(output):
        depth, name = len(line[1].expandtabs(4)), line[3].strip() or "(unnamed)"
        inside = [each for each in children if each[0] > depth]
        children = [each for each in children if each[0] <= depth]
        if inside:
            children += [(depth, _below(name, child)) for _, child in inside]
        else:
            directive = (line[4] or "").lower()
            result = Result.SKIPPED if directive in ("skip", "todo") else Result.FAILED if line[2] else Result.PASSED
            details = _TAP_DETAILS.match(output[line.end() : line.end() + _LONGEST_DETAILS])
            children.append((depth, _tap_case(name, result, details[1] if details else "")))
        if len(children) > MOST:
            break
    return unique(each for _, each in children)


def _below(parent: str, child: Case) -> Case:
    return read_case(
        f"{parent} > {child.name}",
        child.result,
        file=child.file,
        line=child.line,
        seconds=child.seconds,
        message=child.message,
        selector=child.selector,
        broken=child.broken,
    )


def _tap_case(name: str, result: Result, details: str) -> Case:
    place, taken = _TAP_PLACE.search(details), _TAP_SECONDS.search(details)
    return read_case(
        name,
        result,
        file=place[1] if place else "",
        line=place[2] if place else 0,
        seconds=float(taken[1]) / 1000 if taken and taken[1].count(".") <= 1 and taken[1] != "." else None,
        # Where it is defined is told by the place; the message tells where it failed.
        message=_TAP_PLACE.sub("", details) if result is Result.FAILED else "",
        selector=name,
        # Node names a file that it could not load, or that ended early, by its path.
        broken=result is Result.FAILED and place is not None and place[1] == name,
    )
