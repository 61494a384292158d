"""Later words win: what a correction changes in what was said before."""

from __future__ import annotations

import re

from forge.builtin_rules.cues import NEEDS_A_PERSON, UNKNOWN
from forge.builtin_rules.facts import Fact, FactKind, facts
from forge.builtin_rules.sentences import bare, coverage, finished, sentences, words

_REMOVE = re.compile(
    r"^(?:please |and |also )*(?:remove|drop|delete|forget(?: about)?|leave out|skip|take out|strike"
    r"|ignore)\s+(?:the\s+|that\s+)?"
    r"(?P<what>.+)$",
    re.I,
)
_CHANGE = re.compile(
    r"(?:change|replace|swap|switch|correct)\s+(?:the\s+)?[\"“]?(?P<old>.+?)[\"”]?\s+(?:to|with|by|into"
    r"|for)\s+[\"“]?(?P<new>.+?)[\"”]?[.!]?$",
    re.I,
)
_INSTEAD = re.compile(r"^(?P<new>.+?)\s+(?:instead of|rather than)\s+(?P<old>.+?)[.!]?$", re.I)
_NOT_BUT = re.compile(r"\bnot\s+(?P<old>[^,.;]+?),?\s+but\s+(?:rather\s+|in\s+|on\s+)?(?P<new>[^,.;]+)", re.I)
_BUT_NOT = re.compile(
    r"^(?:(?:it|this|that)(?:[’']s| is| will be)|we are|use|make it"
    r"|take)\s+(?P<new>[^,.;]+),\s+not\s+(?P<old>[^,.;]+)",
    re.I,
)
_LEAD = re.compile(
    r"^(?:(?:no|yes|well|sorry|correction|actually|oh|wait|hm+|ok|okay|and|so|but)\b[,:!.–-]*\s+)+", re.I
)
_AGAIN = re.compile(
    r"\b(?:actually|correction|sorry|instead|now|after all|on second thought|scratch that|changed)\b", re.I
)
_DENIES = re.compile(r"\b(?:without|no|not|never)\b|n[’']t\b", re.I)
_SURE, _COVERED = 0.5, 0.6


def corrects(sentence: str) -> bool:
    """Whether a sentence of the dump itself takes back an earlier one."""
    return bool(_AGAIN.search(sentence)) or bool(_NOT_BUT.search(sentence))


def corrected(said: list[str], correction: str) -> list[str]:
    """What is said after a correction. What it changes is changed in place; what is new is added."""
    for sentence in sentences(correction):
        said = _one(said, finished(_LEAD.sub("", sentence)))
    return said


def _one(said: list[str], sentence: str) -> list[str]:
    remove = _REMOVE.match(sentence)
    if remove:
        return _without(said, bare(remove["what"])) or said
    for form in (_CHANGE, _NOT_BUT, _BUT_NOT, _INSTEAD):
        found = form.search(sentence)
        if found:
            changed = _replaced(said, bare(found["old"]), bare(found["new"]))
            if changed != said:
                return changed
    return _with_facts(_settled(said, sentence), sentence)


def _without(said: list[str], what: str) -> list[str]:
    wanted = words(what)
    return [
        one for one in said if what.lower() not in one.lower() and (not wanted or coverage(wanted, words(one)) < 1.0)
    ]


def _replaced(said: list[str], old: str, new: str) -> list[str]:
    named = re.escape(old)
    value = re.compile(rf"(?P<head>\b{named}(?:\s+(?:is|are|will be)|:))\s+.+$", re.I)
    # “No church” does not become “No registry office”.
    plain = re.compile(
        rf"(?<!\w)(?<!\bno )(?<!\bnot )(?<!\bwithout )(?:(?:a|an|the) (?=\S*{named}))?{named}(?!\w)", re.I
    )
    changed = [
        value.sub(lambda found: f"{found['head']} {new}", one) if value.search(one) else plain.sub(lambda _: new, one)
        for one in said
    ]
    if changed == said and facts(new) and not facts(old):
        return _with_facts(said, finished(f"{old} {new}"))
    return [finished(one) for one in changed]


def _settled(said: list[str], sentence: str) -> list[str]:
    """Without the unknowns that the sentence decides."""
    if UNKNOWN.search(sentence):
        return said
    named = words(sentence)
    return [one for one in said if not (UNKNOWN.search(one) and _decides(named, words(one), one))]


def _decides(named: frozenset[str], unknown: frozenset[str], text: str) -> bool:
    if not NEEDS_A_PERSON.search(text):
        return bool(unknown) and unknown - {"maybe", "perhaps", "possibly"} <= named
    return len(named & unknown) >= 2 or (bool(named & unknown) and coverage(named, unknown) >= _SURE)


def _with_facts(said: list[str], sentence: str) -> list[str]:
    """Amounts of the same thing take the new value where they stand; what is not said by that is added."""
    new = facts(sentence)
    changed = [_updated(one, new, said, sentence) for one in said]
    everything = " ".join(changed)
    told, named = words(everything), {(fact.thing, fact.value) for fact in facts(everything)}
    whole = all((fact.thing, fact.value) in named for fact in new)
    if whole and changed != said and coverage(words(sentence), told) >= _COVERED and not _DENIES.search(sentence):
        return changed
    subject = [one for one in changed if words(one) == words(sentence)]
    return changed if subject else [*changed, sentence]


def _updated(one: str, new: list[Fact], said: list[str], sentence: str) -> str:
    for old in reversed(facts(one)):
        better = next((fact for fact in new if _same(fact, old, one, said, sentence)), None)
        if better and better.value != old.value:
            before = one[: old.start]
            if old.kind is FactKind.DATE and better.amount[:1].isdigit():
                before = re.sub(r"\bin $", "on ", before)
            one = before + _like(old, better) + one[old.end :]
    return one


def _same(new: Fact, old: Fact, one: str, said: list[str], sentence: str) -> bool:
    if new.kind is not old.kind:
        return False
    if new.kind is not FactKind.DATE:
        return new.thing == old.thing
    dates = sum(fact.kind is FactKind.DATE for text in said for fact in facts(text))
    return dates == 1 or len(words(one) & words(sentence) - words(old.amount) - words(new.amount)) >= 1


def _like(old: Fact, new: Fact) -> str:
    """The new amount, in the currency of the old one where it names none."""
    if old.kind is not FactKind.MONEY or re.search(r"[^\d.,\s'’]", new.amount.replace("k", "")):
        return new.amount
    return re.sub(r"\d[\d.,'’ ]*(?<=\d)(?:\s?k\b)?", lambda _: new.amount, old.amount, count=1)
