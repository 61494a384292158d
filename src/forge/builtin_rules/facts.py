"""Amounts and dates in a sentence, each with the thing that it is an amount of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from forge.builtin_rules.sentences import stem, words

MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
NUMBER = r"\d{1,3}(?:[., '’]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d+)?"
CURRENCY = r"(?:€|\$|£|eur\b|euros?\b|usd\b|dollars?\b|gbp\b|pounds?\b|chf\b|francs?\b)"
_SCALE = r"(?:\s?(?:k|m|thousand|million)\b)?"
DATE = re.compile(
    rf"\b\d{{4}}-\d{{2}}-\d{{2}}\b|\b\d{{1,2}}\.\s?\d{{1,2}}\.(?:\s?\d{{2,4}})?"
    rf"|\b(?:\d{{1,2}}(?:st|nd|rd|th|\.)?\s+(?:of\s+)?)?(?:{MONTH})(?<!\bmay)\b(?:\s+\d{{1,2}}(?:st|nd|rd"
    rf"|th)?\b(?!\s*\d))?(?:,?\s+\d{{4}})?"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th|\.)?\s+(?:of\s+)?may\b(?:\s+\d{{4}})?|\bmay\s+\d{{1,4}}\b(?:,?\s+\d{{4}})?"
    rf"|\b(?:next|this|early|late)\s+(?:spring|summer|autumn|fall|winter|year|month|week)\b|\bq[1-4](?:\s+\d{{4}})?\b"
    rf"|\b(?:spring|summer|autumn|winter)\s+\d{{4}}\b|\b(?:christmas|easter)\b"
    rf"|\b(?:in|by|until|before|end of)\s+20\d{{2}}\b(?!-\d)",
    re.IGNORECASE,
)
MONEY = re.compile(
    rf"(?:€|\$|£)\s?(?:{NUMBER}){_SCALE}|\b(?:{NUMBER}){_SCALE}\s?{CURRENCY}|\b(?:{NUMBER})\s?k\b", re.IGNORECASE
)
_SUM = re.compile(
    rf"\b(?:budget|costs?|price|spend|pay)\b(?:\s+\w+){{0,3}}?[\s:]+(?P<amount>(?:{NUMBER}){_SCALE})\b(?!\s*(?:percent|%))",
    re.I,
)
_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_COUNT = re.compile(
    rf"\b(?P<amount>{NUMBER}|{'|'.join(_WORDS)})\s+(?:(?:new|more|other|adult"
    rf"|additional)\s+)?(?P<noun>[^\W\d_]{{2,}})\b",
    re.I,
)
# The word before an amount that says what it is, past words that only lead to it.
_BEFORE = re.compile(
    r"([^\W\d_]{3,})(?:\s+(?:is|are|was|of|at|most|about|around|roughly|costs?|up|to|now|only|max|maximum|limit|total"
    r"|the|a|for|be|must|should|under|below|than|more|no|not|exceed|stay|stays|within|has|have|will|just"
    r"|from))*[\s:]*$",
    re.I,
)
_OF_A_PART = re.compile(
    r"\s+(?:are|is|have|has|had|from|who|with|without|that|need|want|can|eat|drink|use|speak|live|per|of|a)\b", re.I
)
TIMES = frozenset(
    """
    hour day week month year minute second percent night weekend quarter kilometre kilometer mile meter metre
    """.split()  # noqa: SIM905 - a list of words reads as words
)
_NOT_PAID_FOR = frozenset({"have", "has", "with", "spend", "spends", "pay", "pays", "paid", "need", "needs"})
_NOT_THINGS = frozenset("and or per the for with are our of to at on in is a an by but from".split())  # noqa: SIM905 - a list of words reads as words


class FactKind(StrEnum):
    MONEY = "money"
    COUNT = "count"
    DATE = "date"


@dataclass(frozen=True, slots=True)
class Fact:
    """`text` is the amount together with its thing, as the person wrote it; `start` and `end` are the amount alone."""

    kind: FactKind
    thing: str
    amount: str
    text: str
    start: int
    end: int

    @property
    def value(self) -> str:
        """For comparing: 15,000 and 15000 and 15k are the same."""
        if self.amount.lower() in _WORDS:
            return str(_WORDS.index(self.amount.lower()) + 2)
        digits = re.sub(r"(?<=\d)[., '’](?=\d{3}\b)", "", self.amount.lower())
        number = re.search(r"\d+(?:[.,]\d+)?", digits)
        if self.kind is FactKind.DATE or number is None:
            return " ".join(self.amount.lower().split())
        scale = 1000.0 if re.search(r"\d\s?(?:k\b|thousand)", digits) else 1_000_000.0 if "million" in digits else 1.0
        return f"{float(number[0].replace(',', '.')) * scale:g}"


def facts(sentence: str) -> list[Fact]:
    dates = [_date(found) for found in DATE.finditer(sentence)]
    sums = [_money(sentence, found.start(), found.end()) for found in MONEY.finditer(sentence)]
    if not sums:
        sums = [_money(sentence, *found.span("amount")) for found in _SUM.finditer(sentence) if _free(found, dates)]
    taken = [*dates, *sums]
    counts = [
        Fact(FactKind.COUNT, stem(found["noun"]), found["amount"], found[0], *found.span("amount"))
        for found in _COUNT.finditer(sentence)
        if found["noun"].lower() not in _NOT_THINGS and _free(found, taken)
    ]
    return sorted([*taken, *counts], key=lambda fact: fact.start)


def contradictions(texts: list[str]) -> list[tuple[Fact, Fact]]:
    """Pairs of different amounts of the same thing. Spans of time are left out: a plan has many of them. So is an
    amount that is told of a part: “80 guests” and “six guests are vegan” agree.
    """
    seen: dict[tuple[FactKind, str], list[tuple[Fact, frozenset[str]]]] = {}
    found: list[tuple[Fact, Fact]] = []
    for text in texts:
        for fact in facts(text):
            if fact.kind is FactKind.DATE or fact.thing in TIMES:
                continue
            if is_part(text, fact):
                continue
            about = words(text) - words(fact.amount)
            earlier = seen.setdefault((fact.kind, fact.thing), [])
            clash = next((one for one, of in earlier if one.value != fact.value and (of <= about or about <= of)), None)
            if clash and all(pair[0] != clash for pair in found):
                found.append((clash, fact))
            earlier.append((fact, about))
    return found


def is_part(text: str, fact: Fact) -> bool:
    """Whether the amount is told of a part only: “six guests are vegan”."""
    return bool(_OF_A_PART.match(text, text.find(fact.text, max(0, fact.end - len(fact.text))) + len(fact.text)))


def _date(found: re.Match[str]) -> Fact:
    text = found[0].strip()
    return Fact(FactKind.DATE, "date", text, text, found.start(), found.start() + len(text))


def _money(sentence: str, start: int, end: int) -> Fact:
    before = _BEFORE.search(sentence[:start])
    thing = stem(before[1]) if before and before[1].lower() not in _NOT_PAID_FOR else "money"
    first = before.start(1) if before and thing != "money" else start
    text = sentence[first - len("at ") if sentence[:first].lower().endswith("at ") else first : end]
    return Fact(FactKind.MONEY, thing, sentence[start:end], text, start, end)


def _free(found: re.Match[str], taken: list[Fact]) -> bool:
    start, end = found.span("amount")
    return not any(start < fact.end and fact.start < end for fact in taken)
