"""What a project is called when nobody typed a name: a name in the text, or the first words of what is wanted."""

from __future__ import annotations

import re

from forge.builtin_rules.sentences import headings

_CALLED = re.compile(
    r"\b(?:(?:it|this|project|the project|plan|the plan) (?:is |should be |will be )?(?:called|named)"
    r"|call (?:it|this|the project)"
    r"|name it|rename (?:it |this )?to|(?<!her )(?<!his )(?<!my )(?<!their )\b(?:project )?(?:name|title)\s*(?:is"
    r"|:))\s*[\"“'‘]?(?P<name>[^\"”'’.!?\n,;]{2,60})",
    re.I,
)
_WANT = re.compile(
    r"^.*?(?:\b(?:want|wants|need|needs|would like|aim|wish|intend|help (?:me|us))|[’']d (?:like|love)"
    r"|\b(?:I|we)(?:[’']re|[’']m| are| am)? (?:plan|planning|going|hope|getting|thinking (?:of|about)))\b"
    r"(?:\s+(?:me|us))?(?:\s+to)?\s+",
    re.I,
)
_VERB = re.compile(
    r"^(?:(?:to|please|let[’']?s|help|me|us|plan|planning|organi[sz]e|organi[sz]ing|prepare|create|make|write"
    r"|build|draft|have|do|hold"
    r"|host|run|set up|start|get|develop|design(?!\s+doc)|find|for)\s+)+",
    re.I,
)
_DETERMINER = re.compile(
    r"^(?:(?:a|an|the|our|my|some|this|new|nice|small|big|simple|good|proper|complete)\s+)+(?=\S)", re.I
)
_STOP = re.compile(
    r"[,.;:!?()。、！？“”\"–—]|\s(?:that|which|because|so|and|with|who|where|when|while|but|within|until|before|by|if"
    r"|since)\s"
)
_WE = re.compile(r"^(?:(?:we|i|our|my|idea|goal|aim|roadmap)\b:?\s+)(?:(?:will|are|am|have|is)\s+)?", re.I)
_WITHIN = re.compile(r"\s+(?:(?:a|an|the|our|my|your|new|own|first|old)\s+)+", re.I)
_MOST, _MOST_GIVEN, _MOST_BEGUN, _LONGEST_BEGUN = 4, 10, 6, 60
_FILLER = re.compile(r"^(?:(?:ok(?:ay)?|so|well|right|hm+|um+|also|na ja|bueno|alors|brain dump)\b[,.]?\s+)+", re.I)
_NOBODY = frozenset(
    {"somebody", "someone", "something", "everybody", "everyone", "people", "things", "it", "this", "that"}
)
_NOUNS = {"married": "wedding", "marry": "wedding"}
_SMALL = frozenset(
    """
    a an the of in on for to at from into by and or our my with about around as well also can will probably be is are
    has its it
    """.split()  # noqa: SIM905 - a list of words reads as words
)


def typed_in(text: str) -> str:
    """A name that the text gives itself: the last one counts."""
    found = [match["name"].strip() for match in _CALLED.finditer(text)]
    return found[-1] if found else ""


def named(objective: str, text: str) -> str:
    """Two to four words."""
    given = typed_in(text) or next(iter(headings(text)), "")
    if given:
        return " ".join(given.split()[:_MOST_GIVEN])
    if re.search(r"\b(?:get|are getting|marry|marries) married\b|\bmarry\b", objective) and not _WANT.search(objective):
        return "Wedding Plan"
    phrase = _WANT.sub("", objective, count=1) if _WANT.search(objective) else _WE.sub("", objective)
    phrase = _DETERMINER.sub("", _VERB.sub("", phrase))
    phrase = _WITHIN.sub(" ", _STOP.split(phrase)[0])
    kept = _whole([_NOUNS.get(word.lower(), word) for word in phrase.split()])
    if not kept or (len(kept) == 1 and kept[0].lower() in _NOBODY):
        return begun(text)
    return _title(kept if len(kept) > 1 else [*kept, "plan"])


def begun(text: str) -> str:
    """What the text gives itself, else its first words as they stand, where nothing says what is wanted."""
    given = typed_in(text) or next(iter(headings(text)), "")
    first = next(iter(text.strip().splitlines()), "")
    words = (given or _STOP.split(_FILLER.sub("", first))[0]).split()[: _MOST_GIVEN if given else _MOST_BEGUN]
    name = " ".join(words)[:_LONGEST_BEGUN].strip(" .,:;!?。、！？")
    return f"{name[:1].upper()}{name[1:]}" if name else "Untitled Plan"


def _whole(parts: list[str]) -> list[str]:
    """At most four words, ending where a group of words ends."""
    kept = parts[:_MOST]
    inside = len(parts) > _MOST and parts[_MOST].lower() not in _SMALL
    joints = [at for at, word in enumerate(kept) if word.lower() in _SMALL and at >= 2]
    if inside and joints:
        kept = kept[: joints[0]]
    while kept and (kept[-1].lower() in _SMALL or kept[-1].endswith(("'s", "’s"))):
        kept.pop()
    return kept


def _title(parts: list[str]) -> str:
    return " ".join(
        part if (at and part.lower() in _SMALL) or not part.islower() else part[:1].upper() + part[1:]
        for at, part in enumerate(parts)
    )
