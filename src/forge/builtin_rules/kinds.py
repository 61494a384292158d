"""Plan or code: inferred from the words that a person uses, and from what they say outright."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CODE_THING = (
    r"(?:app|apps|application|script|scripts|api|cli|function|library|program|website|webapp|bot|tool|package"
    r"|plugin|module"
    r"|game|parser|server|service|dashboard|extension|microservice|command line tool|scraper|crawler"
    r"|calculator|converter)"
)
_PLAN_THING = (
    r"(?:plan|plans|strategy|roadmap|event|wedding|party|design document|proposal|agenda|itinerary|schedule"
    r"|concept|offsite"
    r"|conference|trip|budget plan|checklist|campaign|brief|migration|renovation|festival|workshop|retreat"
    r"|move|launch)"
)
_MAKES_CODE = re.compile(
    rf"\b(?:build|write|create|make|want|need|develop|implement|code|program)\s+(?:me |us )?(?:an? |the |some )?"
    rf"(?:[\w-]+\s+){{0,3}}?{_CODE_THING}\b(?!\s+(?:{_PLAN_THING}|team|company|owner))",
    re.I,
)
_PLAN = re.compile(
    rf"\b{_PLAN_THING}\b|\bplan(?:ning)? (?:a|an|my|our|the|how|to)\b|\borgani[sz]e\b|\bmarry(?:ing)?\b|\bmarried\b",
    re.I,
)
_CODE = re.compile(
    rf"\b{_CODE_THING}\b|\bpython\b|\bjavascript\b|\btypescript\b|\brust\b|\bunit tests?\b|\bsource code\b"
    rf"|\bcoding\b",
    re.I,
)
_SAYS_PLAN = re.compile(r"\b(?:plan|strategy|roadmap|design document|proposal)\b", re.I)
_WORK_OF_PEOPLE = re.compile(
    r"\b(?:deadline|team|developers?|engineers?|budget|weeks?|months?|rollout|downtime)\b", re.I
)
_OUTRIGHT = re.compile(
    r"\b(?:it|this|that|the deliverable|deliverable type|type|what I want|we want)(?:[’']s| is| should be"
    r"| must be|:)?\s+"
    r"(?P<no>not )?(?:just |only |meant as |to be )?(?:an? |the )?(?P<kind>plan|document|code|software|program)\b"
    r"|\b(?P<never>no|not|without) (?P<kind2>code|software|coding)\b|\bmake (?:it"
    r"|this) (?:an? )?(?P<kind3>plan|document|code|program)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Judged:
    kind: str
    reason: str
    sure: bool


def judged(text: str, chosen: str = "") -> Judged:
    """The kind that the text asks for; what is said outright counts more than what was chosen, and that more than any
    other word.
    """
    outright = list(_OUTRIGHT.finditer(text))
    if outright:
        last = outright[-1]
        named = (last["kind"] or last["kind2"] or last["kind3"]).lower()
        is_code = (named in {"code", "software", "program", "coding"}) is not bool(last["no"] or last["never"])
        return Judged("code" if is_code else "plan", f"You said so: “{last[0].strip()}”.", sure=True)
    if chosen:
        return Judged(chosen, "You chose it when you made the project.", sure=True)
    plan, code = _found(_PLAN, text), _found(_CODE, text)
    if _MAKES_CODE.search(text) and not _SAYS_PLAN.search(text):
        return Judged("code", f"{_quoted(code)} for working software.", sure=True)
    if len(code) > 1 and not plan and not _WORK_OF_PEOPLE.search(text):
        return Judged("code", f"{_quoted(code)} for working software.", sure=False)
    if plan:
        return Judged("plan", f"{_quoted(plan)} for a document.", sure=not code or bool(_SAYS_PLAN.search(text)))
    return Judged("plan", "Nothing in the text asks for working software, so it is a document.", sure=False)


def _found(pattern: re.Pattern[str], text: str) -> list[str]:
    return list(dict.fromkeys(match[0].lower() for match in pattern.finditer(text)))


def _quoted(found: list[str]) -> str:
    shown = [f"“{word}”" for word in found[:4]]
    if len(shown) < 2:
        return f"The word {''.join(shown)} asks"
    return f"The words {', '.join(shown[:-1])} and {shown[-1]} ask"
