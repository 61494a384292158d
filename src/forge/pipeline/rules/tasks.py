"""What has to be done, read from sentences: who does what, what has to be got, and what must happen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum

from forge.pipeline.rules.sentences import bare, finished


class Stage(IntEnum):
    """In the order of the work."""

    FIND_OUT = 1
    DECIDE = 2
    GET = 3
    PREPARE = 4
    AIM = 5


@dataclass(frozen=True, slots=True)
class Step:
    """`who` is empty where nobody was named; `thing` is what has to be got."""

    stage: Stage
    text: str
    who: str = ""
    thing: str = ""


_FIND_OUT = "ask clarify check measure"
_DECIDE = "agree agreed approve approved decide decided choose chosen confirm confirmed sign signed allow"
_GET = (
    "book booked buy bought order ordered rent rented hire hired reserve reserved borrow borrowed get find found hand"
)
_PREPARE = """
    invite invited send sent go open opened tell told sell sold test tested train trained move moved build built set
    prepare prepared write written rewrite rewritten print printed clean cleaned pack packed paint painted remove removed
    migrate migrated copy copied rehearse register registered collect collected install installed document documented
    replace replaced deliver delivered finish finished announce announced publish published draft drafted design designed
    cook bake decorate translate translated inform informed switch create created update updated come launch visit leave
    organise organize organised organized plan planned make made rewire renew renewed repair repaired teach taught
"""
_STAGES = {
    verb: stage
    for stage, verbs in (
        (Stage.FIND_OUT, _FIND_OUT),
        (Stage.DECIDE, _DECIDE),
        (Stage.GET, _GET),
        (Stage.PREPARE, _PREPARE),
    )
    for verb in verbs.split()
}
_NAME = r"[^\W\d_][\w’'-]*"
_WHO = re.compile(
    rf"^(?P<who>(?:(?:My|Our|His|Her|The|Their|Ms|Mr|Mrs|Dr)\.?\s+)?{_NAME}(?:\s+[A-Z][\w’'-]*)?"
    rf"(?:\s+and\s+(?:my\s+|our\s+)?{_NAME})?)\s+(?:will\s+|already\s+|also\s+|has\s+already\s+|can\s+)*"
    r"(?:takes? (?:care|over|the |photos|minutes)|looks? after|(?:is|are) (?:responsible|in charge)|handles?|organi[sz]es?"
    r"|brings?|cooks?|bakes?|drives?|plays?|leads?|manages?|writes?|makes?|does|do|books?|buys?|pays?|helps?|runs?|hosts?"
    r"|prepares?|sets? up|designs?|finds?|lends?|moderates?|coordinates?|reviews?|teaches|records?|reserved|booked|gives?"
    r"|(?:is|are) (?:my|our|her|his|their|the) (?:mentor|host|lead|leader|contact|organi[sz]er|moderator|trainer|coach"
    r"|manager|cook|driver|photographer|witness))\b",
)
_NOBODY = frozenset(
    """
    it this that there they we you everything nothing nobody everybody everyone each every all what who which how if when
    he she one some somebody someone food not no tickets the our my his her their please then also maybe do
    """.split()  # noqa: SIM905 - a list of words reads as words
)
_NEED = re.compile(
    r"(?:^|[,;]\s+(?:(?:so|and|but)\s+)?)(?:I|we)(?:\s+(?:also|still|really|will|then|probably))*\s+need\s+(?P<what>[^,;]+(?:"
    r",[^;]+)?)",
    re.I,
)
_WANT = re.compile(r"^(?:I|we)(?:\s+(?:also|really))*\s+want\s+(?P<what>(?:an?|some|new|two|three|\d+|to)\s.+)$", re.I)
_MUST = re.compile(
    r"\b(?:must|ha(?:s|ve) to|needs? to|should|shall)\s+(?:also\s+|still\s+|all\s+|first\s+)*(?:be\s+|get\s+)?(?P<verb>[a-z]+)",
    re.I,
)
_NOT = re.compile(r"\b(?:not|never|no)\b|n[’']t\b", re.I)
_READY = re.compile(r"\b(?:must|ha(?:s|ve) to|should)\s+have\b.+\bready\b", re.I)
_ORDER = re.compile(r"^(?:(?:please|then|also|finally|first|we|I|will)\s+)*(?P<verb>[a-z]+)\b", re.I)
_FORM = re.compile(r"^(?:an?\s+|the\s+)?(?:[\w-]+\s+)?(?:plan|strategy|roadmap)\b", re.I)


def assigned(sentence: str) -> str:
    """Who does something, in a sentence that says so plainly; empty in every other."""
    found = _WHO.match(sentence)
    if not found or (found["who"].lower() in _NOBODY) or found["who"] == "It":
        return ""
    return found["who"]


def step_in(sentence: str) -> Step | None:
    """What a plain sentence says is to be done; nothing where it only tells how things are."""
    who = assigned(sentence)
    if who:
        return Step(Stage.PREPARE, finished(sentence), who)
    wanted = _NEED.search(sentence) or _WANT.match(sentence)
    if wanted and not _FORM.match(wanted["what"]):
        return _got(bare(wanted["what"]))
    must = _MUST.search(sentence)
    if _READY.search(sentence):
        return Step(Stage.PREPARE, finished(sentence))
    if must and not _NOT.search(sentence[: must.end()]) and must["verb"].lower() in _STAGES:
        return Step(_STAGES[must["verb"].lower()], finished(sentence))
    order = _ORDER.match(sentence)
    if order and not must and order["verb"].lower() in _STAGES:
        return Step(_STAGES[order["verb"].lower()], finished(sentence))
    return None


def step_to(choice: str, added: str) -> Step | None:
    """A choice that says what to do, as a step."""
    verb = choice.split(" ", 1)[0].lower()
    if verb not in _STAGES:
        return None
    stage = _STAGES[verb]
    return Step(stage, finished(f"{choice} ({added})"), thing=choice if stage is Stage.GET else "")


def _got(what: str) -> Step:
    verb = re.match(r"to\s+([a-z]+)", what, re.I)
    if verb:
        return Step(_STAGES.get(verb[1].lower(), Stage.PREPARE), finished(what[3:]))
    return Step(Stage.GET, f"Get: {what}.", thing=what)
