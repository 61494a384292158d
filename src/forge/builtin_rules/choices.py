"""Two things between which a person left something open, and ranges of numbers."""

from __future__ import annotations

import re

from forge.builtin_rules.facts import MONTH, NUMBER
from forge.builtin_rules.sentences import bare

_WORD = r"[\w€$£'’.-]+"
_SECOND = r",?\s+or\s+(?P<second>[^,;.?!]+)"
_CHOICES = (
    re.compile(rf"\b(?:either|whether|between)\s+(?P<first>.+?){_SECOND}", re.I),
    re.compile(rf"^(?P<first>(?:{_WORD}\s+){{0,2}}{_WORD}),\s+(?:{_WORD}\s+){{0,2}}{_WORD}{_SECOND}", re.I),
    re.compile(rf"(?P<first>(?:{_WORD}\s+){{0,3}}{_WORD}){_SECOND}", re.I),
)
_LEADS = re.compile(
    r"^(?:we|I|it(?= (?:is|should)\b)|is|are|use|should|shall|be|do(?= (?:we|I)\b)|just|maybe|perhaps|if|not|sure|to"
    r"|will)\s+",
    re.I,
)
_TAIL = re.compile(r"\s+(?:is|are|was|would|will|be|not|better|best|for the|\?)\b.*$", re.I)
_TOPIC = re.compile(r"^(?:for|in|on|at|about|as|with|and|but|not sure)\b", re.I)
_QUOTE = re.compile(r"“(.+)”")
_MAYBE = r"(?:,|\bor\b)\s*(?:maybe|perhaps|possibly|up to|even|or)\s+(?:even |up to )?"
_RANGES = (
    re.compile(rf"\b(?P<one>{NUMBER})\s*(?:-|–|to|or|and)\s*(?P<two>{NUMBER})\s+(?P<noun>[^\W\d_]{{2,}}|€)", re.I),
    re.compile(rf"\b(?P<one>{NUMBER})\s+(?P<noun>[^\W\d_]{{2,}})[^.;?!]{{0,40}}?{_MAYBE}(?P<two>{NUMBER})\b", re.I),
)
_NOT_COUNTED = re.compile(rf"(?:{MONTH}|am|pm|o|uhr|of|in|and|or)$", re.I)


def said_in(asked: str) -> str:
    """What the person wrote, out of a question that quotes it."""
    found = _QUOTE.search(asked)
    return found[1] if found else asked


def choices(said: str) -> tuple[str, str] | None:
    """The first and the last of the things between which something is left open."""
    for form in _CHOICES:
        found = form.search(said)
        if found is None or (form is _CHOICES[1] and _TOPIC.match(found["first"])):
            continue
        first, second = _plain(found["first"].split(", ")[0]), _plain(found["second"])
        if first and second and second.lower() not in {"not", "no"}:
            return first, second
    return None


def _plain(choice: str) -> str:
    choice = choice.strip()
    while _LEADS.match(choice):
        choice = _LEADS.sub("", choice)
    return bare(_TAIL.sub("", choice.strip(" ?!")))


def names_a_range(said: str) -> bool:
    """“60 people, maybe 70” is a range; its two numbers do not contradict each other."""
    found = next((match for form in _RANGES if (match := form.search(said))), None)
    return found is not None and not _NOT_COUNTED.match(found["noun"]) and _value(found["one"]) < _value(found["two"])


def _value(number: str) -> float:
    return float(re.sub(r"[., '’](?=\d{3}\b)", "", number).replace(",", "."))
