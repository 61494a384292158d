"""The `builder_directive` contract: the order of phases, the command that tests, and limits."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from forge.contracts import markdown
from forge.contracts.kinds import Finding, Kind
from forge.contracts.markdown import Document, Section

LIMITS = ("turns_per_phase", "minutes_per_phase", "fix_attempts", "cost_usd")
_KIND = Kind.BUILDER_DIRECTIVE
_ORDER, _TESTS, _LIMITS = _KIND.sections
_LIMIT = re.compile(r"[-*] +(\w+): *([0-9]{1,6}(?:\.[0-9]{1,2})?)", re.ASCII)
_COMMAND = re.compile(r"`([^`\n]+)`")
_FENCED = re.compile(r"(?:```|~~~)\w*\n(.+)\n(?:```|~~~)")


@dataclass(frozen=True, slots=True)
class Directive:
    title: str
    order: tuple[int, ...]
    test_command: str
    limits: tuple[tuple[str, float], ...]
    rest: tuple[Section, ...] = ()
    """Sections beside the three that are read."""
    order_line: int = field(default=1, compare=False)
    findings: tuple[Finding, ...] = field(default=(), compare=False)


def parse(text: str) -> Directive:
    """Missing sections are told by the check of sections."""
    document = markdown.parse(text)
    told: list[Finding] = []
    order, tests, limits = (document.section(each) or Section(each, "") for each in _KIND.sections)
    rest = tuple(each for each in document.sections if each.heading not in _KIND.sections)
    return Directive(
        document.title,
        _order(order, told),
        _command(tests, told),
        _limits(limits, told),
        rest,
        order.first,
        tuple(told),
    )


def format(directive: Directive) -> str:  # noqa: A001 - the counterpart of `parse`
    sections = (
        Section(_ORDER, ", ".join(map(str, directive.order))),
        Section(_TESTS, f"`{directive.test_command}`"),
        Section(_LIMITS, "\n".join(f"- {name}: {_number(value)}" for name, value in directive.limits)),
    )
    return markdown.format(Document(directive.title, "", (*sections, *directive.rest)))


def _order(section: Section, told: list[Finding]) -> tuple[int, ...]:
    words = re.split(r"[\s,→]+", section.body.strip())
    if all(re.fullmatch(r"[0-9]{1,3}", word, re.ASCII) for word in words):
        return tuple(int(word) for word in words)
    hint = "Write the numbers of all phases, as in `0, 1, 2`."
    told.append(Finding("directive_order", _KIND.file, section.first, "The phase order is no list of numbers.", hint))
    return ()


def _command(section: Section, told: list[Finding]) -> str:
    body = section.body.strip()
    matched = _COMMAND.fullmatch(body) or _FENCED.fullmatch(body)
    if matched and "\n" not in matched[1]:
        return matched[1].strip()
    hint = "Write one command in backticks, as in `python -m pytest -q`."
    told.append(Finding("directive_tests", _KIND.file, section.first, "There is no single test command.", hint))
    return ""


def _limits(section: Section, told: list[Finding]) -> tuple[tuple[str, float], ...]:
    found: dict[str, float] = {}
    for number, line, _ in markdown.lines(section.body):
        matched = _LIMIT.fullmatch(line.rstrip())
        name = matched[1] if matched else ""
        if matched and name in LIMITS and name not in found and float(matched[2]) > 0:
            found[name] = float(matched[2])
        elif line.strip():
            at, hint = section.first + number - 1, f"Write `- name: number`, each once, of: {', '.join(LIMITS)}."
            message = f"“{line.strip()[:60]}” is no limit."
            told.append(Finding("directive_limits", _KIND.file, at, message, hint))
    return tuple(found.items())


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
