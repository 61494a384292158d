"""The four outlines of plans: which sections there are, what each is for, and which points belong to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from types import MappingProxyType

import yaml

from forge.errors import NotFound

COLUMNS = ("Objective", "Plan", "Assessment")
PARTS = ("objective", "plan", "assessment", "details")
NAMES = ("generic", "wedding", "strategy", "engineering")
FALLBACK = "generic"

# Of the words that come up in any plan it takes several; those that nobody says by the way decide alone.
_ENOUGH = 3
_LONGEST_TITLE = 120
_STRUCTURE = re.compile(r"(?ms)^## Deliverable Structure\s*$(.*?)(?=^## |\Z)")
_NUMBERED = re.compile(r"(?m)^\s*\d{1,3}[.)]\s+(\S.*?)\s*$")
_NOT_IN_A_TITLE = re.compile(r"[^\w\s,.:;()&/'’“”+%€$?!–—-]|_")
_NAMED = re.compile(r"(?im)^\W*(?:plan )?template\W+([a-z]+)\b")


class NoSuchTemplate(NotFound):
    code = "no_such_template"


@dataclass(frozen=True, slots=True)
class Point:
    """Something that a section should speak of. One of `words` shows that it does; `DATE` and `MONEY` stand for any."""

    text: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A main section. `subject` is what it is about, within a sentence; `words` are those that belong to it."""

    id: str
    title: str
    subject: str
    objective: str
    assessment: str
    points: tuple[Point, ...]
    words: tuple[str, ...]

    @property
    def slots(self) -> tuple[str, ...]:
        return tuple(f"{self.id}.{part}" for part in PARTS)


@dataclass(frozen=True, slots=True)
class Outline:
    name: str
    title: str
    words: tuple[str, ...]
    """What a text talks about when this outline fits it."""
    telling: tuple[str, ...]
    """Those of which one is enough."""
    roles: Mapping[str, str]
    """Which section lists the steps (`work`), and which takes who does what (`who`), people, places, dates, money and
    risks, whatever words they come in. An outline without such a section does not name it.
    """
    sections: tuple[Section, ...]

    @property
    def slots(self) -> tuple[str, ...]:
        return tuple(slot for section in self.sections for slot in section.slots)

    def role(self, name: str) -> Section | None:
        return next((section for section in self.sections if section.id == self.roles.get(name)), None)


@cache
def outline(name: str) -> Outline:
    if name not in NAMES:
        raise NoSuchTemplate(f"There is no plan template '{name}'.", hint=f"Use one of {', '.join(NAMES)}.")
    text = resources.files(__package__).joinpath("templates", f"{name}.yaml").read_text("utf-8")
    values = yaml.safe_load(text)
    sections = tuple(
        Section(**{**one, "points": tuple(map(_point, one["points"])), "words": tuple(one["words"].split())})
        for one in values["sections"]
    )
    return Outline(
        name=name,
        title=values["title"],
        words=tuple(values["words"].split()),
        telling=tuple(values["telling"].split()),
        roles=MappingProxyType(dict(values["roles"])),
        sections=sections,
    )


def _point(written: str) -> Point:
    text, _, words = written.partition("|")
    return Point(text.strip(), tuple((words or text).split()))


def agreed(shape: Outline, titles: Sequence[str]) -> Outline:
    """The outline with the sections that a specification agreed on, in their order; what counts as done comes last.
    Each of them has the template's table; one that the template knows keeps its name there.
    """
    known = {section.title.casefold(): section for section in shape.sections}
    found: dict[str, Section] = {}
    for title in dict.fromkeys(map(_heading, titles)):
        if title:
            section = known.get(title.casefold()) or _new_section(title, found)
            found.setdefault(section.id, section)
    if not found:
        return shape
    last = shape.sections[-1]
    sections = (*(one for id_, one in found.items() if id_ != last.id), last)
    return replace(shape, sections=sections) if sections != shape.sections else shape


def titles_in(spec: str) -> tuple[str, ...]:
    """The sections that a specification lists under its structure."""
    inside = _STRUCTURE.search(spec)
    return tuple(_NUMBERED.findall(inside[1])) if inside else ()


def _heading(title: str) -> str:
    """Plain words: nothing in it could be read as Markdown."""
    return " ".join(_NOT_IN_A_TITLE.sub(" ", title).split())[:_LONGEST_TITLE].strip(" .-")


def _new_section(title: str, taken: Mapping[str, Section]) -> Section:
    slug = re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_") or "section"
    id_ = next(name for n in range(1, len(taken) + 2) if (name := slug if n == 1 else f"{slug}_{n}") not in taken)
    return Section(id_, title, title, objective="", assessment="", points=(), words=())


def outlines() -> tuple[Outline, ...]:
    return tuple(outline(name) for name in NAMES)


def chosen(spec: str, intent: str = "") -> str:
    """The template that a specification names, or else the one whose words the texts use most."""
    named = _NAMED.search(spec)
    if named and named[1].lower() in NAMES:
        return named[1].lower()
    text = f"{spec}\n{intent}".lower()
    words = set(re.findall(r"[a-z]+", text))
    counts = {
        one.name: len(words & {*one.words}) + _ENOUGH * (len(words & {*one.telling}) + (f"{one.name} plan" in text))
        for one in outlines()
        if one.name != FALLBACK
    }
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] >= _ENOUGH else FALLBACK
