"""Tests by name out of what a runner prints, where it has no report: unittest, cargo, Minitest, ticks, Automake."""

from __future__ import annotations

import re

from forge.tools.suites.cases import Case, Result, read_case, unique

_UNITTEST = re.compile(
    r"^([\w.]+) \(([\w.<>]+)\)[^\n]*?(?:\n[^\n]*?)?"
    r" \.\.\. (ok|FAIL|ERROR|skipped|expected failure|unexpected success)",
    re.MULTILINE,
)
_UNLOADED = "unittest.loader._FailedTest"
_UNITTEST_WORDS = {
    "ok": Result.PASSED,
    "FAIL": Result.FAILED,
    "ERROR": Result.FAILED,
    "skipped": Result.SKIPPED,
    "expected failure": Result.SKIPPED,
    "unexpected success": Result.FAILED,
}
_UNITTEST_BLOCK = re.compile(
    r"^={60,}\n(?:FAIL|ERROR): ([\w.]+) \(([\w.<>]+)\).*\n(?:.*\n)?-{60,}\n((?:(?!^={60,}$|^-{60,}$).*\n?)*)",
    re.MULTILINE,
)
_CARGO = re.compile(r"^test (\S+)(?: - should panic)?(?: - \S+)? \.\.\. (ok|FAILED|ignored)", re.MULTILINE)
_CARGO_WORDS = {"ok": Result.PASSED, "FAILED": Result.FAILED, "ignored": Result.SKIPPED}
_CARGO_BLOCK = re.compile(r"^---- (\S+) stdout ----\n((?:(?!^---- |^failures:).*\n?)*)", re.MULTILINE)
_TICKS = re.compile(r"^\s*([✓✔√✕✖×✗○])\s+(.*?)(?: \(\d+(?:\.\d+)? ?m?s\))?$", re.MULTILINE)
_TICK_WORDS = {
    **dict.fromkeys("✓✔√", Result.PASSED),
    **dict.fromkeys("✕✖×✗", Result.FAILED),
    "○": Result.SKIPPED,
}
_MINITEST = re.compile(r"^([\w:]+#\S+) = ([\d.]+) s = ([.FES])$", re.MULTILINE)
_MINITEST_WORDS = {".": Result.PASSED, "F": Result.FAILED, "E": Result.FAILED, "S": Result.SKIPPED}
_MINITEST_BLOCK = re.compile(
    r"^\s*\d+\) (?:Failure|Error):\n([\w:]+#\S+?)(?: \[(.+?):(\d+)\])?:\n((?:.+\n?)*)", re.MULTILINE
)
_AUTOMAKE = re.compile(r"^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): (\S.*)$", re.MULTILINE)
_AUTOMAKE_WORDS = {"PASS": Result.PASSED, "SKIP": Result.SKIPPED, "XFAIL": Result.SKIPPED}


def unittest(output: str) -> tuple[Case, ...]:
    told = {_dotted(block[1], block[2]): block[3] for block in _UNITTEST_BLOCK.finditer(output)}
    return unique(
        read_case(
            line[1] if _UNLOADED in line[2] else name,
            _UNITTEST_WORDS[line[3]],
            message=told.get(name, ""),
            selector=name.replace("::", "."),
            file=f"{line[1].replace('.', '/')}.py" if _UNLOADED in line[2] else "",
            broken=_UNLOADED in line[2],
        )
        for line in _UNITTEST.finditer(output)
        for name in (_dotted(line[1], line[2]),)
    )


def _dotted(method: str, owner: str) -> str:
    return owner if owner.endswith(f".{method}") else f"{owner}::{method}"


def cargo(output: str) -> tuple[Case, ...]:
    told = {block[1]: block[2] for block in _CARGO_BLOCK.finditer(output)}
    return unique(
        read_case(line[1], _CARGO_WORDS[line[2]], message=told.get(line[1], ""), selector=line[1])
        for line in _CARGO.finditer(output)
    )


def minitest(output: str) -> tuple[Case, ...]:
    told = {block[1]: block for block in _MINITEST_BLOCK.finditer(output)}
    return unique(
        read_case(
            line[1],
            _MINITEST_WORDS[line[3]],
            file=block[2] if block else "",
            line=block[3] if block else 0,
            seconds=line[2] if line[2].count(".") <= 1 else None,
            message=block[4] if block else "",
        )
        for line in _MINITEST.finditer(output)
        for block in (told.get(line[1]),)
    )


def ticks(output: str) -> tuple[Case, ...]:
    return unique(read_case(line[2], _TICK_WORDS[line[1]]) for line in _TICKS.finditer(output))


def automake(output: str) -> tuple[Case, ...]:
    return unique(
        read_case(line[2].strip(), _AUTOMAKE_WORDS.get(line[1], Result.FAILED)) for line in _AUTOMAKE.finditer(output)
    )
