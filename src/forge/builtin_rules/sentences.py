"""A person's text cut into sentences, and sentences into the words that count."""

from __future__ import annotations

import re
import textwrap

_MARKER = re.compile(r"^\s*(?:[-*+•–]|\d{1,2}[.)]|\[[ xX]\])\s+(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(r"^\s*#{1,6}\s+")
_TITLE = re.compile(r"\b(?:e\.g|i\.e|dr|mr|mrs|prof|vs)\.$|(?-i:\b[A-Z])\.$", re.I)
_SHORTENED = re.compile(r"\b(?:etc|approx|ca|incl|min|max|no|a\.m|p\.m|st)\.$", re.I)
_DAY = re.compile(r"\b\d{1,2}\.$")
_MONTH = re.compile(r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)", re.I)
_END = re.compile(r"(?<=[.!?…])[\"”’)]?\s+|(?<=[。！？])(?=\S)")
_LONGEST = 600
_WRAPPED = 55

_STOP = frozenset(
    """
    a about above actually after again all also although always am an and another any are around as at be because
    been before being between both but by can cannot could did do does doing done down during each either else etc
    even every few for from further get gets getting go goes going good got had has have having he her here hers him
    his how however i if in into is it its itself just keep kept let like lot lots made make makes making many may
    me might more most much must my need needs never nice no nor not now of off ok okay on once one only onto or
    other our ours out over own per perhaps please quite rather really same say says see she should since so some
    something somewhere still such take than that the their theirs them then there these they thing things this
    those though through thus to too two under until up upon us use used using very want wants was way we well were
    what when where whether which while who whom whose why will with within without would yes yet you your yours don
    doesn didn isn aren won ve ll re im plan rule said section objective assessment
    """.split()  # noqa: SIM905 - a list of words reads as words
)


def sentences(text: str) -> list[str]:
    """Each sentence or fragment, in order, with a capital letter and a full stop."""
    found: list[str] = []
    for line in _lines(text):
        for part in _parts(line):
            found += [
                finished(piece) for piece in textwrap.wrap(part, _LONGEST, break_on_hyphens=False) if _says(piece)
            ]
    return found


def headings(text: str) -> list[str]:
    return [_HEADING.sub("", line).strip() for line in text.splitlines() if _HEADING.match(line)]


def finished(text: str) -> str:
    text = " ".join(text.split()).strip(" ,;")
    if text and text[-1] not in ".!?…:”\"'。！？":
        text += "."
    return text[:1].upper() + text[1:]


def bare(sentence: str) -> str:
    """For use within another sentence."""
    return sentence.strip().rstrip(".;, ")


def stem(word: str) -> str:
    word = word.lower()
    for ending, shortest in (("ies", 5), ("ing", 6), ("ed", 5), ("es", 5), ("s", 4)):
        if word.endswith(ending) and len(word) >= shortest and not word.endswith("ss"):
            kept = word[: -len(ending)]
            return kept + "y" if ending == "ies" else kept
    return word


def words(text: str) -> frozenset[str]:
    """Stems of the words that say something; numbers count as they stand."""
    found = re.findall(r"\d[\d.,]*\d|\d|[^\W\d_]+", text.lower())
    return frozenset(
        stem(word.strip(".,")) for word in found if word not in _STOP and (len(word) > 1 or word.isdigit())
    )


def coverage(wanted: frozenset[str], given: frozenset[str]) -> float:
    """Which part of the wanted words is there; everything, if none is wanted."""
    return len(wanted & given) / len(wanted) if wanted else 1.0


def _lines(text: str) -> list[str]:
    """Wrapped lines of a paragraph as one; points of a list, short lines and headings each on their own."""
    kept: list[str] = []
    joins = False
    for line in text.replace("\r", "\n").split("\n"):
        if not line.strip() or _HEADING.match(line) or line.strip().startswith(("```", "~~~", "|---")):
            joins = False
            continue
        marked = _MARKER.match(line)
        plain = _MARKER.sub("", line).strip().strip("|").strip()
        continues = joins and not marked and (plain[:1].islower() or len(kept[-1]) > _WRAPPED)
        if (continues and not kept[-1].endswith((".", "!", "?", ":"))) or (continues and plain[:1].islower()):
            kept[-1] += " " + plain
        else:
            kept.append(plain)
        joins = True
    return kept


def _parts(line: str) -> list[str]:
    parts: list[str] = []
    for piece in _END.split(line):
        if parts and _goes_on(parts[-1], piece):
            parts[-1] += " " + piece
        else:
            parts.append(piece)
    return parts


def _goes_on(before: str, after: str) -> bool:
    """Whether the full stop between the two belongs to a short form, and ends no sentence."""
    if _TITLE.search(before):
        return True
    small = after[:1].islower() or after[:1].isdigit()
    return bool((small and _SHORTENED.search(before)) or (_DAY.search(before) and _MONTH.match(after)))


def _says(text: str) -> bool:
    return bool(re.search(r"[^\W\d_]{2}|\d", text))
