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
    prepare prepared write written rewrite rewritten print printed clean cleaned pack packed paint painted remove
    removed migrate migrated copy copied rehearse register registered collect collected install installed document
    documented replace replaced deliver delivered finish finished announce announced publish published draft drafted
    design designed cook bake decorate translate translated inform informed switch create created update updated come
    launch visit leave organise organize organised organized plan planned make made renew renewed repair repaired
    teach taught
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
    rf"^(?P<who>(?:(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]he|[Tt]heir|Ms|Mr|Mrs|Dr)\.?\s+)?{_NAME}(?:\s+[A-Z][\w’'-]*)?"
    rf"(?:\s+and\s+(?:my\s+|our\s+)?{_NAME})?)\s+(?:will\s+|already\s+|also\s+|has\s+already\s+|can\s+)*"
    r"(?:takes? (?:care|over|the |photos|minutes)|looks? after|(?:is|are) (?:responsible|in charge)|handles?|brings?"
    r"|organi[sz]es?|cooks?|bakes?|drives?|plays?|leads?|manages?|writes?|makes?|do(?:es)?(?! not\b)|books?|buys?"
    r"|helps?|runs?|hosts?|prepares?|sets? up|designs?|finds?|lends?|moderates?|coordinates?|reviews?|teaches|records?"
    r"|reserved|booked|gives?"
    r"|(?:is|are) (?:my|our|her|his|their|the) (?:mentor|host|lead|leader|contact|organi[sz]er|moderator|trainer|coach"
    r"|manager|cook|driver|photographer|witness))\b",
)
_NOBODY = frozenset(
    """
    it this that there they we you everything nothing nobody each every all what who which how if
    when he she one two three four some somebody someone food not no tickets the our my his her their please then also
    maybe do must should
    """.split()  # noqa: SIM905 - a list of words reads as words
)
_NEED = re.compile(
    r"(?:^|[,;]\s+(?:(?:so|and|but)\s+)?)(?:I|we)(?:\s+(?:also|still|really|will|then|probably))*\s+need\s+(?P<what>[^,;]+(?:"
    r",[^;]+)?)",
    re.I,
)
_WANT = re.compile(r"^(?:I|we)(?:\s+(?:also|really))*\s+want\s+(?P<what>(?:an?|some|new|two|three|\d+|to)\s.+)$", re.I)
_MUST = re.compile(
    r"\b(?:must|ha(?:s|ve) to|needs? to|should|shall)\s+(?:also\s+|still\s+|all\s+|first\s+)*(?:be\s+|get\s+)?"
    r"(?P<verb>[a-z]+)",
    re.I,
)
_NOT = re.compile(r"\b(?:not|never|no)\b|n[’']t\b", re.I)
_READY = re.compile(r"\b(?:must|ha(?:s|ve) to|should)\s+have\b.+\bready\b", re.I)
_ORDER = re.compile(
    r"^(?:(?:please|then|also|finally|first)\s+)*(?:(?:we|I)\s+(?:will\s+)?(?P<we>[a-z]+)\b"
    r"|(?P<verb>[a-z]+)\s+(?=(?:an?|the|our|all|my|two|three|new|\d+)\s))",
    re.I,
)
_AGAIN_AND_AGAIN = re.compile(r"\b(?:per|every|each|usually|always)\b", re.I)
_LACKS = re.compile(r"^(?:the|our|my|all|each)\s.+?\bneeds? (?:an?|new|some|two|three|\d+)\s", re.I)
_BARE_SUBJECT = re.compile(r"\b(?:it|this|that|they|she|he|there)\s+$", re.I)
_CLAUSE = re.compile(r"[,;]\s+(?:and\s+|but\s+|while\s+)?")
_POINTS_BACK = re.compile(r"\b(?:it|them|this|that)\b", re.I)
# Nothing that is left to do: “Ben is our host”, “Eva has already booked it”.
_DONE = re.compile(r"\balready\b|\b(?:reserved|booked)\b|^(?:is|are) (?:my|our|her|his|their|the)\b", re.I)
_ACTS = re.compile(r"^(?P<who>(?:(?:The|My|Our)\s+)?[\w’'-]+(?:\s+[\w’'-]+)?)\s+(?:must|ha(?:s|ve) to|should)\b")
_FORM = re.compile(r"^(?:an?\s+|the\s+)?(?:[\w-]+\s+)?(?:plan|strategy|roadmap)\b", re.I)


@dataclass(frozen=True, slots=True)
class Duty:
    who: str
    what: str

    @property
    def text(self) -> str:
        return finished(f"{self.who} {self.what}")


def duties(sentence: str) -> tuple[Duty, ...]:
    """Who does what, in a sentence that says so plainly; nothing in every other."""
    found: list[Duty] = []
    for at, clause in enumerate(_CLAUSE.split(sentence)):
        match = _WHO.match(clause)
        if not match or (match["who"].lower() in _NOBODY and not match["who"].isupper()):
            continue
        who = match["who"][:1].upper() + match["who"][1:]
        # A later clause that points back says nothing alone.
        what = bare(sentence) if at and _POINTS_BACK.search(clause) else bare(clause[match.end("who") :].strip())
        found.append(Duty(who, what))
    return tuple(found)


def thing_in(sentence: str) -> str:
    """What somebody needs or wants to have."""
    found = _NEED.search(sentence) or _WANT.match(sentence)
    what = bare(found["what"]) if found else ""
    return "" if _FORM.match(what) or what.lower().startswith("to ") else what


def steps_in(sentence: str) -> tuple[Step, ...]:
    """What a plain sentence says is to be done; nothing where it only tells how things are."""
    given = tuple(Step(Stage.PREPARE, one.text, one.who) for one in duties(sentence) if not _DONE.search(one.what))
    if given or duties(sentence):
        return given
    step = _step(sentence)
    return (step,) if step else ()


def _step(sentence: str) -> Step | None:
    wanted = _NEED.search(sentence) or _WANT.match(sentence)
    if wanted and not _FORM.match(wanted["what"]):
        return _got(bare(wanted["what"]), needed=wanted.re is _NEED)
    must = _MUST.search(sentence)
    acts = _ACTS.match(sentence)
    who = acts["who"] if acts else ""
    if _READY.search(sentence):
        return Step(Stage.PREPARE, finished(sentence), who)
    if (
        must
        and not _NOT.search(sentence[: must.end()])
        and not _BARE_SUBJECT.search(sentence[: must.start()])
        and must["verb"].lower() in _STAGES
    ):
        stage = _STAGES[must["verb"].lower()]
        # “The board has to agree” names who does it; “the hall has to be booked” does not.
        return Step(stage, finished(sentence), who if stage is Stage.DECIDE and " be " not in must[0] else "")
    order = _ORDER.match(sentence)
    verb = (order["verb"] or order["we"]).lower() if order and not must else ""
    if verb in _STAGES and not _AGAIN_AND_AGAIN.search(sentence):
        return Step(_STAGES[verb], finished(sentence))
    if _LACKS.search(sentence) and not _NOT.search(sentence):
        return Step(Stage.GET, finished(sentence))
    return None


def step_to(choice: str, added: str) -> Step | None:
    """A choice that says what to do, as a step."""
    verb = choice.split(" ", 1)[0].lower()
    if verb not in _STAGES:
        return None
    stage = _STAGES[verb]
    return Step(stage, finished(f"{choice} ({added})"), thing=choice.partition(" ")[2] if stage is Stage.GET else "")


def _got(what: str, *, needed: bool) -> Step | None:
    verb = re.match(r"to\s+([a-z]+)", what, re.I)
    if verb:
        stage = _STAGES.get(verb[1].lower(), Stage.PREPARE if needed else None)
        return Step(stage, finished(what[3:])) if stage else None
    return Step(Stage.GET, f"Get: {what}.", thing=what)
