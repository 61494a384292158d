"""What becomes of something open that a person hands back: each time by a rule that can be said in one sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from forge.pipeline.rules.cues import NEEDS_A_PERSON
from forge.pipeline.rules.facts import CURRENCY, MONTH, NUMBER
from forge.pipeline.rules.sentences import bare

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
_CLASH = re.compile(r"^You wrote “(?P<one>.+?)” and “(?P<two>.+?)”\. Which one counts\?$")
_QUOTE = re.compile(r"“(.+)”")
_MAYBE = r"(?:,|\bor\b)\s*(?:maybe|perhaps|possibly|up to|even|or)\s+(?:even |up to )?"
_RANGES = (
    re.compile(rf"\b(?P<one>{NUMBER})\s*(?:-|–|to|or|and)\s*(?P<two>{NUMBER})\s+(?P<noun>[^\W\d_]{{2,}}|€)", re.I),
    re.compile(rf"\b(?P<one>{NUMBER})\s+(?P<noun>[^\W\d_]{{2,}})[^.;?!]{{0,40}}?{_MAYBE}(?P<two>{NUMBER})\b", re.I),
)
_NOT_COUNTED = re.compile(rf"(?:{MONTH}|am|pm|o|uhr|of|in|and|or)$", re.I)
_FACTS = re.compile(
    r"\bwhether\b|\bif\b|\bhow\b|\bknow\b|\ballowed\b|\bpermit\b|\bwhy\b|\bneed\b|\bcost\b|\bunclear\b|\bnot clear\b",
    re.I,
)
_WISHES = re.compile(r"\b(?:what if|should|shall|decide[d]?|want)\b", re.I)


class Became(StrEnum):
    COUNTED = "counted"
    LATER = "later"
    CHOSEN = "chosen"
    FIND_OUT = "find out"
    DECIDE = "decide"
    OPTION = "option"


@dataclass(frozen=True, slots=True)
class Outcome:
    """`said` are the person's words, `rule` what the plan says about them; `first` and `second` are the choices."""

    became: Became
    said: str
    rule: str
    first: str = ""
    second: str = ""


def said_in(asked: str) -> str:
    """What the person wrote, out of a question that quotes it."""
    found = _QUOTE.search(asked)
    return found[1] if found else asked


def outcome(asked: str) -> Outcome:
    clash = _CLASH.match(asked)
    said = said_in(asked)
    if clash:
        rule = f"By rule: of two amounts the later one counts, “{clash['two']}”."
        return Outcome(Became.LATER, clash["two"], rule, clash["one"], clash["two"])
    if counted := figure(said):
        return Outcome(Became.COUNTED, said, counted)
    if found := choices(said):
        rule = f"By rule: of several choices the first one named is the plan: {found[0]}. The other one: {found[1]}."
        return Outcome(Became.CHOSEN, said, rule, *found)
    if not NEEDS_A_PERSON.search(said):
        rule = "By rule: what is only a maybe stays an option; it is decided before anything is booked or bought."
        return Outcome(Became.OPTION, said, rule)
    if _FACTS.search(said) and not _WISHES.search(said):
        return Outcome(Became.FIND_OUT, said, "By rule: what nobody is sure of is found out first.")
    return Outcome(Became.DECIDE, said, "By rule: what is open is decided before anything is booked or bought.")


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


def figure(said: str) -> str:
    """The number that the plan counts with where a range was named; empty without one."""
    found = next((match for form in _RANGES if (match := form.search(said))), None)
    if found is None or _NOT_COUNTED.match(found["noun"]) or _value(found["one"]) >= _value(found["two"]):
        return ""
    if re.fullmatch(CURRENCY, found["noun"], re.I):
        counted = f"{found['one']} {found['noun']}"
        return f"By rule: where a range of money was named, the plan counts with the smaller sum: {counted}."
    return f"By rule: where a range was named, the plan counts with the larger number: {found['two']} {found['noun']}."


def _value(number: str) -> float:
    return float(re.sub(r"[., '’](?=\d{3}\b)", "", number).replace(",", "."))
