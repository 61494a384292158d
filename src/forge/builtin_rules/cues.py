"""By which words a sentence is sorted: objective, constraint, assumption, unknown; everything else is background."""

from __future__ import annotations

import re
from enum import StrEnum

from forge.builtin_rules.facts import MONTH, WEEKDAY, FactKind, facts
from forge.builtin_rules.sentences import bare, words


class Sort(StrEnum):
    OBJECTIVE = "objective"
    ASSUMPTION = "assumption"
    CONSTRAINT = "constraint"
    BACKGROUND = "background"
    UNKNOWN = "unknown"


_OPEN = (
    r"[?？]|\bnot (?:yet |quite |really )?(?:sure|clear|decided|certain|settled|known)\b|\bunsure\b|\bundecided\b"
    r"|\bunclear\b"
    r"|\bT\.?B\.?[DCA]\b|\beither\b.+\bor\b|\bwhether\b|(?:\b(?:I|we) |^)(?:do not|don[’']?t) (?:really "
    r"|yet )?know\b|\bnobody knows\b"
    r"|\bno idea\b|\bto be (?:decided|determined|confirmed|agreed)\b|\bwonder(?:ing)?\b|\bcan(?:no|[’'])?t decide\b"
    r"|\bhaven[’']?t decided\b|\bhave not decided\b|\bopen question\b|\btorn between\b"
    rf"|\b(?:{MONTH}|{WEEKDAY}) or (?:in |on )?(?:{MONTH}|{WEEKDAY})\b"
)
_MAYBE = r"\bmaybe\b|\bperhaps\b|\bpossibly\b|\bmight\b|\bcould be nice\b|\bnice to have\b|\bif possible\b"
NEEDS_A_PERSON = re.compile(_OPEN + r"|\b(?:maybe|perhaps|possibly)\b.+\bor\b", re.I)
UNKNOWN = re.compile(_OPEN + "|" + _MAYBE, re.I)
ASSUMPTION = re.compile(
    r"\bprobably\b|\bpresumably\b|\blikely\b|\busually\b|\bnormally\b|\bhopefully\b|\bobviously\b"
    r"|\bof course\b|\bsurely\b"
    r"|\b(?:I|we) hope(?! to)\b|\bI (?:think|guess|believe|assume|suppose|expect|reckon)\b|\bwe (?:think|guess"
    r"|believe|assume|suppose|expect)\b"
    r"|\bassum(?:e|es|ing|ption)\b|\b(?:everybody|everyone) (?:knows|likes|wants|will|has|is)\b|\bseems?\b"
    r"|\bas far as\b"
    r"|\bshould (?:be (?:fine|enough|ok|okay|possible|easy|cheap|no problem)\b"
    r"|(?:work|fit|suffice)\b(?= *(?:out|$|[.,;])))",
    re.I,
)
LIMIT = re.compile(
    r"\b(?:must|may|can|should) ?not\b|\bcan[’']?t\b|\bat (?:most|least)\b|\b(?:no|not) (?:more|later|longer) than\b"
    r"|\bmax(?:imum)?\b|\bdeadline\b|\bexceed|\b(?:under|below) [\d€$£]|\b(?:until|before|within)\b|\bup to \d"
    r"|\bmore than [\d€$£]"
    r"|\bmust\b|\b(?:has|have|needs?) to be\b|\b(?:has|have) to\b.+\bby\b|\bnot allowed\b|\brequired\b|^only\b"
    r"|\b(?:only|nothing but)$|^(?:the |our |my )?(?:budget|deadline|date|money)\b"
    r"|^(?:no|never|without)\s(?!idea|one\b|problem)"
    r"|\b(?:do not|don[’']?t) want\b",
    re.I,
)
_BY_WHEN_OR_FOR_HOW_MUCH = re.compile(r"\bshould\b", re.I)
WANTED = re.compile(
    r"\b(?:I|we|they|he|she|company|team|club|family|school|boss|client)(?:[’']d|[’']re|[’']m| am| are| is"
    r"| would)?\s+(?:also |really |just )?"
    r"(?:want|need|like to|love to|plan|planning|aim|hope to|going to|wish|getting|organi[sz]ing|intend"
    r"|have to plan|looking|thinking (?:of|about))\b"
    r"|^(?:want|wanted|wish|goal)\b|^(?:our|my) (?:[\w-]+ ){1,3}wants?\b|\band needs?\b"
    r"|\bneeds? an? (?:[\w-]+ )?(?:plan|strategy|roadmap)\b|\b(?:goal|aim|objective"
    r"|purpose|idea)\b\s*(?:is|:)|\bhelp (?:me|us)\b"
    r"|^(?:please |let[’']?s )?(?:plan|organi[sz]e|prepare|create|build|write|make|design|develop|migrate"
    r"|launch|move|implement"
    r"|draft|set up|get|grow|run|host|hold|renovate|open|start|replace|introduce|find|increase|reduce|double"
    r"|switch|rewrite)\b",
    re.I,
)
# “A reading club for twelve people” names what is wanted, and says nothing about it.
NAMES_A_THING = re.compile(
    r"^(?:an?|some)\s(?!.*\b(?:is|are|was|were|has|have|had|told|says?|said|will|can|does|did|do|wants?|thinks?)\b)",
    re.I,
)
_UNWANTED = re.compile(r"(?:\bnot|n[’']?t|\bnever)\s+(?:want|need|like|plan)\b", re.I)
_JOINT = re.compile(r"(?:[,;]\s+(?:but|and|so|though)?|\s+but)\s*(?=(?:I|we|nobody|not sure|no idea)\b)", re.I)
_POINTS_BACK = re.compile(r"\b(?:it|its|they|them|this|that|these|those|he|she|his|him|there|one)\b", re.I)
_CLAUSE = re.compile(r",\s+(?:and\s+|but\s+)?|\s+(?:but|–|—)\s+")
_FEWEST_WORDS = 3


def sorted_as(sentence: str) -> Sort:
    if UNKNOWN.search(sentence):
        return Sort.UNKNOWN
    if ASSUMPTION.search(sentence):
        return Sort.ASSUMPTION
    if WANTED.search(sentence) and not _UNWANTED.search(sentence):
        return Sort.OBJECTIVE
    should = _BY_WHEN_OR_FOR_HOW_MUCH.search(sentence)
    if LIMIT.search(bare(sentence)) or (should and any(fact.kind is not FactKind.COUNT for fact in facts(sentence))):
        return Sort.CONSTRAINT
    # “Our onboarding is a mess” wants nothing and limits nothing.
    return Sort.BACKGROUND


def clauses(sentence: str) -> list[str]:
    """A sentence that says two things of different sorts, as one each."""
    if "“" in sentence:
        return [sentence]
    return [part for half in _halves(sentence) for part in _limits_apart(half)]


def _halves(sentence: str) -> list[str]:
    """“I think it is allowed, but we are not sure who pays” is a belief and an unknown. A second half that points back
    at the first one stays with it: alone, nobody would know what it is about.
    """
    for joint in _JOINT.finditer(sentence):
        first, second = sentence[: joint.start()], sentence[joint.end() :]
        if min(len(first.split()), len(second.split())) < _FEWEST_WORDS or _POINTS_BACK.search(second):
            continue
        if len(words(second)) < 2:
            continue
        if sorted_as(first) is not sorted_as(second) and Sort.UNKNOWN in {sorted_as(first), sorted_as(second)}:
            return [first, second]
    return [sentence]


def _limits_apart(sentence: str) -> list[str]:
    """What is wanted, and after a comma what limits it or is open."""
    if not WANTED.search(sentence):
        return [sentence]
    first, *rest = _CLAUSE.split(sentence)
    kept, apart = [first], list[str]()
    for clause in rest:
        begins = re.match(
            r"(?:with\s+)?(?:a\s+)?(?:budget|no|not|without|only|must|at most|at least|max|deadline|by|before|until"
            r"|maybe|perhaps|possibly|not sure|I don|we don|probably)\b",
            clause,
            re.I,
        )
        (apart if begins else kept).append(clause)
    if not apart or len(first.split()) < _FEWEST_WORDS:
        return [sentence]
    return [", ".join(kept), *apart]
