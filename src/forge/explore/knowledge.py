"""What the explorer knows, read from prompt files that a person can edit: modes, their probes, domain patterns.

A mode is a file: its text before the first probe is the core instruction, each `## Probe: name` a probe. Patterns are
sections `## Pattern: name` of one file. Lines `Key: value` at the start of a section are its conditions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

GATHERING = "gathering"
MODES: Mapping[str, str] = {
    "discover": "Discover & Frame",
    "evaluate": "Evaluate Solution",
    "constraints": "Surface Constraints",
    "value": "Size & Value",
    "priorities": "Prioritise & Sequence",
}
ROUTE, RESPOND, PATTERNS = "explore-route", "explore-respond", "explore-patterns"
PROMPTS = (ROUTE, RESPOND, f"explore-{GATHERING}", *(f"explore-{mode}" for mode in MODES), PATTERNS)
_HEADING = re.compile(r"^## (Probe|Pattern): *([a-z0-9_]+) *$", re.MULTILINE)
_CONDITION = re.compile(r"^([A-Z][a-z ]+): *(.+)$")


@dataclass(frozen=True, slots=True)
class Section:
    """A probe or a pattern: its conditions by name, and its text as a model reads it."""

    name: str
    conditions: Mapping[str, str]
    text: str

    def __hash__(self) -> int:
        return hash((self.name, self.text))

    @property
    def question(self) -> str:
        return self.conditions.get("Question", "")

    def words(self, condition: str) -> tuple[str, ...]:
        return tuple(word.strip().casefold() for word in self.conditions.get(condition, "").split(",") if word.strip())


@dataclass(frozen=True, slots=True)
class Mode:
    name: str
    core: str
    probes: tuple[Section, ...]

    def probe(self, name: str) -> Section | None:
        return next((each for each in self.probes if each.name == name), None)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """`text` gives a prompt as it is now."""

    text: Callable[[str], str]

    def mode(self, name: str | None) -> Mode:
        name = name or GATHERING
        core, probes = _sections(self.text(f"explore-{name}"))
        return Mode(name, core, probes)

    def patterns(self) -> tuple[Section, ...]:
        return _sections(self.text(PATTERNS))[1]

    @property
    def route(self) -> str:
        return self.text(ROUTE)

    def system(self, mode: str | None) -> str:
        """What whoever responds is told: the rules of every turn and the core of one mode, never all knowledge."""
        return f"{self.text(RESPOND).strip()}\n\n{self.mode(mode).core.strip()}\n"


@lru_cache(maxsize=64)
def _sections(text: str) -> tuple[str, tuple[Section, ...]]:
    heads = list(_HEADING.finditer(text))
    core = text[: heads[0].start()] if heads else text
    ends = [*(head.start() for head in heads[1:]), len(text)]
    found = (_section(head[2], text[head.end() : end]) for head, end in zip(heads, ends, strict=False))
    return core, tuple(found)


def _section(name: str, body: str) -> Section:
    conditions: dict[str, str] = {}
    for line in body.strip().splitlines():
        found = _CONDITION.match(line)
        if found is None:
            break
        conditions[found[1]] = found[2].strip()
    return Section(name, conditions, body.strip())


def mentions(text: str, words: tuple[str, ...]) -> bool:
    """Whether one of the words or phrases is there, as whole words."""
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) for word in words)
