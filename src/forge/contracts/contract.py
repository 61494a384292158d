"""One contract as a value: parsed from its text, and formatted again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import yaml

from forge.contracts import data, directive, markdown, phases
from forge.contracts.directive import Directive
from forge.contracts.kinds import Finding, Kind
from forge.contracts.markdown import Document
from forge.contracts.phases import PhasePlan
from forge.contracts.templates import schema

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

Value = Document | PhasePlan | Directive | dict[str, Any]
_MOST_FINDINGS = 50
_LARGEST_PHASE = 16_000
_PLACEHOLDER = re.compile(
    r"\b(?:TODO|TBD|FIXME|XXX)\b|\{\{[^{}\n]*\}\}|\blorem ipsum\b"
    r"|<(?:your|insert|placeholder|to be)\b[^<>\n]*>|\[(?:your|insert|placeholder|fill in|to be)\b[^\[\]\n]*\]"
)


@dataclass(frozen=True, slots=True)
class Parsed:
    """`value` is None where the text cannot be read as what it should be; `findings` say why."""

    kind: Kind
    value: Value | None
    findings: tuple[Finding, ...]
    lines: data.Data = field(default_factory=data.Data)

    @property
    def readable(self) -> bool:
        return self.value is not None


def parse(kind: Kind, text: str) -> Parsed:
    """Never raises, whatever `text` is."""
    refused = _unreadable(kind, text)
    if refused is not None:
        return Parsed(kind, None, (refused,))
    if kind.form != "markdown":
        return _parsed_data(kind, text)
    told = [*_placeholders(kind, text), *_missing_sections(kind, markdown.parse(text))]
    value: Value
    if kind is Kind.PHASES:
        value = phases.parse(text)
        told += [*value.findings, *_large_phases(value)]
    elif kind is Kind.BUILDER_DIRECTIVE:
        value = directive.parse(text)
        told += value.findings
    else:
        value = markdown.parse(text)
    return Parsed(kind, value, tuple(told[:_MOST_FINDINGS]))


def format(kind: Kind, value: Value) -> str:  # noqa: A001 - the counterpart of `parse`
    match value:
        case PhasePlan():
            return phases.format(value)
        case Directive():
            return directive.format(value)
        case Document():
            return markdown.format(value)
    if kind.form == "json":
        return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return yaml.dump(value, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=110)


class _Plain(yaml.SafeDumper):
    """Writes only what is read back as the same value."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - its signature
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    # As JSON text, which YAML reads alike, wherever a plain word could be taken for something else.
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", text, re.ASCII) and text not in ("true", "false", "null")
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')


_Plain.add_representer(str, _text)


def _unreadable(kind: Kind, text: str) -> Finding | None:
    if len(text) > kind.largest:
        message = f"{kind.file} has {len(text):,} characters; {kind.largest:,} are allowed."
        return Finding("too_large", kind.file, 1, message, "Shorten it.")
    if not text.strip():
        return Finding("empty", kind.file, 1, f"{kind.file} is empty.", "Write it.")
    if "\0" in text or "\ufffd" in text:
        line = 1 + text[: min(at for at in (text.find("\0"), text.find("\ufffd")) if at >= 0)].count("\n")
        return Finding("not_text", kind.file, line, f"{kind.file} is not UTF-8 text.", "Save it as UTF-8.")
    return None


def _parsed_data(kind: Kind, text: str) -> Parsed:
    found = data.read(kind, text)
    if found.findings:
        return Parsed(kind, None, found.findings)
    if not isinstance(found.value, dict):
        hint = f"Begin with `{'{' if kind.form == 'json' else 'name: value'}`."
        return Parsed(kind, None, (Finding("not_an_object", kind.file, 1, "Names and values are expected.", hint),))
    told = [*_placeholders(kind, text), *_against_schema(kind, found)]
    return Parsed(kind, found.value, tuple(told[:_MOST_FINDINGS]), found)


def _against_schema(kind: Kind, found: data.Data) -> Iterator[Finding]:
    for number, error in enumerate(_validator(kind).iter_errors(found.value)):
        if number == _MOST_FINDINGS:
            return
        path = list(error.absolute_path)
        where = ".".join(map(str, path)) or "The document"
        hint = f"Write what the schema of {kind.value} allows."
        message = f"{where[:120]}: {error.message if len(error.message) < 200 else error.message[:197] + '…'}"
        yield Finding("schema_mismatch", kind.file, found.line(path), message, hint)


@cache
def _validator(kind: Kind) -> Draft202012Validator:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - takes a while to load

    return Draft202012Validator(schema(kind))


def _placeholders(kind: Kind, text: str) -> Iterator[Finding]:
    for number, line in enumerate(text.split("\n"), 1):
        found = _PLACEHOLDER.search(line)
        if found:
            message = f"“{found[0][:60]}” is a placeholder."
            yield Finding("placeholder", kind.file, number, message, "Write what is meant, or leave it out.")


def _missing_sections(kind: Kind, document: Document) -> Iterator[Finding]:
    if not document.title:
        yield Finding("title_missing", kind.file, 1, "There is no title.", "Begin with `# Title`.")
    for heading in kind.sections:
        section = document.section(heading)
        if section is None:
            message, hint = f"The section “{heading}” is missing.", f"Add `## {heading}`."
            yield Finding("section_missing", kind.file, 1, message, hint)
        elif not section.body:
            message = f"The section “{heading}” is empty."
            yield Finding("section_empty", kind.file, section.line, message, "Write it, or say that there is nothing.")
    seen: set[str] = set()
    for each in document.sections:
        if each.heading.casefold() in seen:
            message = f"The section “{each.heading[:80]}” occurs twice."
            yield Finding("section_duplicate", kind.file, each.line, message, "Join them.")
        seen.add(each.heading.casefold())


def _large_phases(plan: PhasePlan) -> Iterator[Finding]:
    for each in plan.phases:
        if len(each.text) > _LARGEST_PHASE:
            message = f"Phase {each.number} has {len(each.text):,} characters; {_LARGEST_PHASE:,} are allowed."
            yield Finding("phase_too_large", Kind.PHASES.file, each.line, message, "Split it into two phases.")
