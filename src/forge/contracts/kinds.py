"""The nine kinds of contract, in the order in which they are written; each reads all that come before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from forge.contracts.errors import ContractUnknown

FOLDER = "contracts"
Format = Literal["markdown", "yaml", "json"]
_SUFFIX: dict[Format, str] = {"markdown": "md", "yaml": "yaml", "json": "json"}
_LARGEST = 64_000
_LARGEST_PHASES = 256_000


class Kind(StrEnum):
    MANIFESTO = "manifesto"
    BLUEPRINT = "blueprint"
    STACK = "stack"
    SCHEMA = "schema"
    PHYSICS = "physics"
    BOUNDARIES = "boundaries"
    UI = "ui"
    PHASES = "phases"
    BUILDER_DIRECTIVE = "builder_directive"

    @property
    def form(self) -> Format:
        return _FORMATS.get(self, "markdown")

    @property
    def file(self) -> str:
        return f"{self.value}.{_SUFFIX[self.form]}"

    @property
    def path(self) -> str:
        """In the project's directory."""
        return f"{FOLDER}/{self.file}"

    @property
    def reads(self) -> tuple[Kind, ...]:
        """The contracts that its writer needs to know."""
        return ORDER[: ORDER.index(self)]

    @property
    def sections(self) -> tuple[str, ...]:
        """Headings that a Markdown contract must have; a document of phases has phases instead."""
        return _SECTIONS.get(self, ())

    @property
    def largest(self) -> int:
        """In characters."""
        return _LARGEST_PHASES if self is Kind.PHASES else _LARGEST


ORDER = tuple(Kind)
_FORMATS: dict[Kind, Format] = {Kind.PHYSICS: "yaml", Kind.BOUNDARIES: "json"}
_SECTIONS: dict[Kind, tuple[str, ...]] = {
    Kind.MANIFESTO: ("Purpose", "Principles"),
    Kind.BLUEPRINT: ("Intent", "Users", "Features", "Architecture"),
    Kind.STACK: ("Languages", "Backend", "Frontend", "Infrastructure"),
    Kind.SCHEMA: ("Entities", "Relations"),
    Kind.UI: ("Design system", "Pages", "Components"),
    Kind.BUILDER_DIRECTIVE: ("Phase order", "Test command", "Limits"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with a contract: where, and what to do. Faces switch on `code`."""

    code: str
    file: str
    line: int
    message: str
    hint: str


def kind_named(name: str) -> Kind:
    try:
        return Kind(name.removesuffix(".md").removesuffix(".yaml").removesuffix(".json"))
    except ValueError:
        raise ContractUnknown(f"There is no contract {name[:80]!r}.", hint=f"There are: {', '.join(ORDER)}.") from None


def sentences(findings: Sequence[Finding]) -> list[str]:
    """As an agent and a person at a terminal get them."""
    return [f"{each.file}:{each.line}: {each.message} {each.hint}" for each in findings]
