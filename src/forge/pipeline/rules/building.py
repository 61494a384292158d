"""The sections of a plan by rules: the person's sentences where they belong, and what the template says itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from forge.deliverables.plan import Outline, Section, outline
from forge.deliverables.plan.outlines import Point
from forge.pipeline.rules import listing
from forge.pipeline.rules.choices import Became, figure, said_in
from forge.pipeline.rules.facts import Fact, Kind, facts, is_part
from forge.pipeline.rules.placing import counts_people, fits, homes, main_section, named_in, speaks_of, with_weekday
from forge.pipeline.rules.reading import Decided, without_gaps
from forge.pipeline.rules.sentences import bare, finished, stem, words
from forge.pipeline.rules.tasks import steps_in
from forge.pipeline.rules.telling import Told, steps, told_in

_CLEAR = 3
NOTHING_SAID = "By rule: nothing was said about"
_ABOUT_ORDER = frozenset({"first", "order", "step", "booked"})


def built(material: Mapping[str, Any]) -> str:
    shape = outline(str(material["template"]))
    section = next(one for one in shape.sections if one.id == material["section"]["id"])
    told = told_in(material)
    texts = _acceptance(section, told) if section.id == "acceptance" else _texts(shape, section, told)
    content = json.dumps(dict(zip(section.slots, texts, strict=True)), ensure_ascii=False)
    return json.dumps({"stuck": False, "reason": "", "content": content}, ensure_ascii=False)


def _texts(shape: Outline, section: Section, told: Told) -> tuple[str, str, str, str]:
    first = section is shape.sections[0]
    plan = _distinct(list(_plan(shape, section, told)))
    shown = "\n".join(plan) or _nothing(shape, section, told)
    return (
        "\n".join(told.objective) if first and told.objective else section.objective,
        shown,
        _assessment(shape, section, plan),
        _details(shape, section, told, silent=shown.startswith(NOTHING_SAID)),
    )


def _plan(shape: Outline, section: Section, told: Told) -> Iterator[str]:
    if section is shape.sections[0]:
        yield from listing.in_numbers(shape, told)
    else:
        yield from _of_the_aim(shape, section, told)
    for sentence in told.limits:
        if section in homes(shape, sentence) and not _only_a_step(shape, section, sentence):
            yield from filter(None, (sentence, figure(sentence)))
    for one in told.became(Became.COUNTED):
        if section in homes(shape, one.said):
            yield from (one.said, one.rule)
    for one in told.became(Became.CHOSEN, Became.LATER):
        if section is _home_of_choice(shape, one.said):
            yield from (one.said, one.rule) if one.became is Became.CHOSEN else (one.rule,)
    yield from (_decision(one) for one in told.decided if main_section(shape, _about(one)) is section)
    if section is shape.role("risks"):
        yield from listing.fallbacks(told)
        if listing.uncertain(told):
            yield "By rule: what is only believed, or not known yet, is a risk until somebody has checked it."
    if section is shape.role("work") and len(steps(told)) > 1:
        yield listing.ORDER


def _of_the_aim(shape: Outline, section: Section, told: Told) -> Iterator[str]:
    """Sentences of the aim that have a section of their own, and of the others what this section needs to know."""
    named: dict[str, None] = {}
    roles = [role for role in ("people", "place", "time", "money") if shape.role(role) is section]
    for at, sentence in enumerate(told.objective):
        if at and section in homes(shape, sentence) and not _only_a_step(shape, section, sentence):
            yield from filter(None, (sentence, figure(sentence)))
        else:
            named |= dict.fromkeys(one for role in roles for one in named_in(sentence, role))
    if named:
        yield f"Named in the aim: {'; '.join(named)}."


def _only_a_step(shape: Outline, section: Section, sentence: str) -> bool:
    """The list of steps says it already."""
    return section is shape.role("work") and bool(steps_in(sentence))


def _home_of_choice(shape: Outline, said: str) -> Section:
    """Where the choice is made; the fallback has its own place among the risks."""
    found = [one for one in homes(shape, said) if one is not shape.role("risks")]
    return found[0] if found else shape.role("work") or shape.sections[0]


def _about(one: Decided) -> str:
    return f"{one.sentence()} {said_in(one.asked)}"


def _distinct(lines: Sequence[str]) -> list[str]:
    """Without a line that says only what another one says as well."""
    kept: list[str] = []
    for line in sorted(dict.fromkeys(lines), key=lambda one: -len(words(one))):
        if not any(words(line) <= words(other) for other in kept):
            kept.append(line)
    return sorted(kept, key=lines.index)


def _decision(one: Decided) -> str:
    """With what it was about, where the answer alone would not tell."""
    asked = without_gaps(said_in(one.asked))
    told = len(words(one.sentence())) >= _CLEAR or facts(one.sentence()) or not asked
    about = "" if told else f" (on “{asked}”)"
    return f"Decided: {bare(one.sentence())}{about}."


def _nothing(shape: Outline, section: Section, told: Told) -> str:
    if section is shape.sections[0]:
        return "By rule: the sections below say what is done for this aim."
    if _open(shape, section, told):
        return f"By rule: what was said about {section.subject} is not settled yet; it stands below."
    if section is shape.role("risks") and listing.risks(told):
        return "By rule: no other risk was named than that the limits below are missed."
    aims = [f"“{one}”" for one in told.objective if speaks_of(shape, section, one)]
    if aims:
        return f"Said in the aim: {' '.join(aims)}"
    elsewhere = [f"“{one}”" for one in told.limits if speaks_of(shape, section, one)]
    if elsewhere:
        return f"Said in another section: {' '.join(elsewhere)}"
    return f"{NOTHING_SAID} {section.subject}, so nothing is fixed here."


def _assessment(shape: Outline, section: Section, plan: Sequence[str]) -> str:
    found: dict[str, str] = {}
    for line in plan:
        if line.startswith("By rule: where a range"):
            found[line] = bare(line.rpartition(": ")[2])
        elif not line.startswith(("By rule", "In numbers")) and not figure(line):
            certain = line.partition(" (on “")[0]
            kept = [one for one in facts(certain) if _kept_in(shape, section, one) and not _part(certain, one)]
            found |= {fact.value: _shown(certain, fact) for fact in kept}
    values = listing.not_within_others(found.values())
    return f"{section.assessment}\nTo be kept: {'; '.join(values)}." if values else section.assessment


def _kept_in(shape: Outline, section: Section, fact: Fact) -> bool:
    """A date or a sum is checked in one place, whatever other sections repeat it."""
    role = {Kind.DATE: "time", Kind.MONEY: "money"}.get(fact.kind)
    return role is None or shape.role(role) in (None, section)


def _part(line: str, fact: Fact) -> bool:
    return fact.kind is Kind.COUNT and counts_people(fact.thing) and is_part(line, fact)


def _shown(line: str, fact: Fact) -> str:
    return with_weekday(line, fact.start, fact.end) if fact.kind is Kind.DATE else fact.text


def _open(shape: Outline, section: Section, told: Told) -> list[str]:
    """What is said about this section, and is not certain."""
    unsure = told.became(Became.FIND_OUT, Became.DECIDE)
    said = [*told.beliefs, *(one.said for one in unsure)]
    return [one for one in said if fits(shape, one) and main_section(shape, one) is section]


def _details(shape: Outline, section: Section, told: Told, *, silent: bool) -> str:
    parts: list[str] = []
    if section is shape.role("work"):
        parts += listing.numbered(told)
    if section is shape.role("who"):
        parts += listing.people(told, beside_the_steps=section is shape.role("work"))
    if section is shape.role("money"):
        parts += listing.to_pay(told)
    if section is shape.role("risks"):
        parts += listing.risks(told)
    elif unsure := _open(shape, section, told):
        parts.append("To be verified or decided:\n" + "\n".join(f"- {one}" for one in unsure))
    options = [one.said for one in told.became(Became.OPTION) if main_section(shape, one.said) is section]
    if options:
        parts.append("An option, until somebody decides on it:\n" + "\n".join(f"- {one}" for one in options))
    parts += _still_to_settle(shape, section, told, silent=silent)
    return "\n\n".join(parts) or "By rule: every point that the template asks for here was mentioned."


def _still_to_settle(shape: Outline, section: Section, told: Told, *, silent: bool) -> list[str]:
    ordered = section is shape.role("work") and len(steps(told)) > 1
    missing = [
        point.text
        for point in section.points
        if (silent or not _spoken_of(point, told)) and not (ordered and words(point.text) & _ABOUT_ORDER)
    ]
    return [f"Still to settle, because the template asks for it: {'; '.join(missing)}."] if missing else []


def _spoken_of(point: Point, told: Told) -> bool:
    said = [*told.all]
    kinds = {fact.kind.name for one in said for fact in facts(one)}
    there = {stem(word) for one in said for word in re.findall(r"[^\W\d_]+", one)}
    there |= {"risk"} if listing.uncertain(told) else set()
    there |= {"fallback"} if listing.prepared_for(told) else set()
    there |= {"cost"} if listing.to_pay(told) else set()
    there |= {"responsible"} if listing.duties_in(told) else set()
    there |= {"people"} if any(named_in(one, "people") for one in said) else set()
    return any(word in kinds or stem(word) in there for word in point.words)


def _acceptance(section: Section, told: Told) -> tuple[str, str, str, str]:
    listed = "\n".join(f"{number}. {finished(one)}" for number, one in enumerate(told.criteria, 1))
    return (
        section.objective,
        "The plan is complete when every point below holds.",
        section.assessment,
        listed or "By rule: no criteria were agreed, so the objective alone counts.",
    )
