"""A small code project as a recording: what an agent answers to prompts, and what it does on the branch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

IDEA = (
    "We need code: a Python module that parses durations such as 1h30m into seconds. Standard library only, please.\n"
)
_INTENT = """# Durations

## Deliverable Type

Code — a module.

## Objective

A Python module that parses durations such as 1h30m.

## Assumptions

None

## Constraints

- Standard library only

## Unknowns

- What happens with an empty text

## Open Questions

None
"""
_SPECIFICATION: dict[str, Any] = {
    "challenges": [],
    "resolutions": [{"unknown": "What happens with an empty text", "resolution": "ValueError", "source": "ai"}],
    "questions": [],
    "spec": {
        "overview": "Parses durations",
        "structure": {
            "architecture": "one module",
            "language": "Python",
            "framework": "none",
            "tools": ["unittest"],
            "tasks": [{"id": "parse", "title": "Parse durations", "tests": True}],
        },
        "decisions": ["unittest"],
        "dependencies": ["Python"],
        "included": ["parsing"],
        "excluded": ["formatting"],
    },
    "constraints": {
        "context": "durations",
        "priorities": ["right results"],
        "exclusions": ["style"],
        "severities": {"critical": "wrong", "medium": "fails", "minor": "slow"},
        "scope": ["durations.py"],
        "criteria": ["1h30m is 5400", "90s is 90", "2h is 7200", "5m is 300", "1m30s is 90"],
    },
}
_FINDING = {
    "severity": "critical",
    "description": "an empty text gives 0",
    "location": "durations.py:5",
    "recommendation": "raise ValueError",
}
_CODE = """import re


def parse(text):
    found = re.findall(r"([0-9]+)([hms])", text)
    return sum(int(number) * {"h": 3600, "m": 60, "s": 1}[unit] for number, unit in found)
"""
_MENDED = _CODE.replace("    return", "    if not found:\n        raise ValueError(text)\n    return")
_TEST = """import unittest

from durations import parse


class Parse{name}(unittest.TestCase):
    def test_it(self):
        {line}
"""


def written(folder: Path) -> str:
    """The name of the recording, as `--agent` takes it."""
    place = folder / "durations"
    answers = [
        {"prompt": "brain-dump-intake", "nth": 1, "output": _INTENT},
        {"prompt": "spec-building", "nth": 1, "output": _SPECIFICATION},
        {"prompt": "code-review", "nth": 1, "output": _review(_FINDING)},
        {"prompt": "code-review", "nth": 2, "output": _review()},
    ]
    turns = [
        *_turn("Parse durations", {"durations.py": _CODE, "test_hours.py": _test("Hours", "1h30m", 5400)}),
        *_turn("Test the criteria", {"test_criteria.py": _criteria()}),
        *_turn("Refuse an empty text", {"durations.py": _MENDED, "test_empty.py": _refusal()}),
    ]
    _lines(place.with_suffix(".answers.jsonl"), answers)
    _lines(place.with_suffix(".jsonl"), turns)
    return f"recorded:{place}.jsonl"


def _review(*issues: dict[str, str]) -> dict[str, Any]:
    tests = {"total": 2, "passed": 2, "failed": 0}
    return {"critical": len(issues), "medium": 0, "minor": 0, "tests": tests, "issues": list(issues)}


def _turn(subject: str, files: dict[str, str]) -> list[dict[str, Any]]:
    calls = [{"name": "write_file", "arguments": {"path": path, "content": text}} for path, text in files.items()]
    return [{"calls": calls}, {"text": f"Done.\n\nCommit: {subject}"}]


def _test(name: str, text: str, seconds: int) -> str:
    return _TEST.format(name=name, line=f'self.assertEqual(parse("{text}"), {seconds})')


def _criteria() -> str:
    """One test for each criterion, under its number."""
    cases = [("1h30m", 5400), ("90s", 90), ("2h", 7200), ("5m", 300), ("1m30s", 90)]
    head, _, _ = _TEST.format(name="Criteria", line="").partition("    def ")
    tests = [
        f'    def test_criterion_{number}(self):\n        self.assertEqual(parse("{text}"), {seconds})\n'
        for number, (text, seconds) in enumerate(cases, 1)
    ]
    return head + "\n".join(tests)


def _refusal() -> str:
    return _TEST.format(name="Empty", line='self.assertRaises(ValueError, parse, "")')


def _lines(path: Path, entries: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))
