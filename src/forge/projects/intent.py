"""`intent.md` as a value: a name and six sections, read from Markdown as agents and people really write it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from forge.projects.errors import AnswerMalformed

SECTIONS = ("Deliverable Type", "Objective", "Assumptions", "Constraints", "Unknowns", "Open Questions")
MAX_QUESTIONS = 5
_FORM = f"Write one H1 with the name, then these H2 sections in this order: {', '.join(SECTIONS)}."

_FENCE = re.compile(r"\s{0,3}(```|~~~)")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)[\s#]*")
_NUMBER = re.compile(r"\(?\d{1,2}[.):]\)?\s+")
_TITLE = re.compile(
    rf"({'|'.join(SECTIONS)}|{'|'.join(s.removesuffix('s') for s in SECTIONS)})(?![^\W_])", re.IGNORECASE
)
_BULLET = re.compile(r"(\s*)(?:[-*+•–—]|\d{1,3}[.)])(?:\s+(.*)|\s*)")
_BOX = re.compile(r"(?:\[[ xX]\]\s+)+")
_NOTHING = re.compile(
    r"""[\W_]*(?:
      (?:there\ (?:are|is)\ |i\ (?:have|see|found)\ |we\ have\ )?
      (?:none|nothing|n/?a|null|empty|not\ applicable
        |no(?:\ (?:further|other|more|remaining|open|known|blocking|unresolved))*
        \ (?:unknowns?|questions?|assumptions?|constraints?|items?|issues?|findings?|problems?|defects?|concerns?
        |challenges?|decisions?|dependencies|exclusions?|candidates?|packages?))
      (?:\ (?:identified|known|remain(?:s|ing)?|left|open|found|outstanding|noted|here|yet|so\ far
        |to\ (?:add|resolve|ask)
        |at\ (?:this|the)\ (?:time|moment|stage|point)|for\ now|currently|right\ now))*
    )?[\W_]*""",
    re.IGNORECASE | re.VERBOSE,
)
_PLEASANTRY = re.compile(
    r"(?:please\ )?(?:let\ me\ know|feel\ free|happy\ to|hope\ this|i(?:'m|\ am)\ happy\ to|looking\ forward)\b.*",
    re.IGNORECASE | re.VERBOSE,
)
"""How chat models close a letter. It is addressed to the reader and asks nothing about the project."""
_WORD = re.compile(r"[\W_]*([^\W_][\w-]*)")
_ALTERNATIVE = re.compile(r"[\W_]*(?:/|\bor\b|\band\b)[\W_]*([^\W_][\w-]*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Intent:
    """What a person wants, organised. `name` is None where the text has no title; the caller finds one then."""

    name: str | None
    deliverable_type: str
    reasoning: str
    """Why it is of that type."""
    objective: str
    assumptions: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    unknowns: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()


def parse_intent(text: str, types: Collection[str]) -> Intent:
    """All six sections, in their order, of one of `types` (lower case); refused otherwise, with all that is wrong."""
    name, found = _sections(text)
    bodies = dict(found)
    questions = items(bodies.get("Open Questions", ""))
    type_, reasoning = deliverable_type(bodies.get("Deliverable Type", ""), types)
    wrong = list(_wrong_shape([title for title, _ in found]))
    if "Deliverable Type" in bodies and not type_:
        wrong.append(f"The first word under Deliverable Type has to be one of {', '.join(sorted(types))}.")
    if "Objective" in bodies and not bodies["Objective"].strip():
        wrong.append("The Objective is empty.")
    if len(questions) > MAX_QUESTIONS:
        wrong.append(f"There are {len(questions)} open questions; keep the {MAX_QUESTIONS} that block most.")
    if wrong:
        raise AnswerMalformed(" ".join(wrong), hint=_FORM)
    return Intent(
        name,
        type_,
        reasoning,
        bodies["Objective"].strip(),
        assumptions=items(bodies["Assumptions"]),
        constraints=items(bodies["Constraints"]),
        unknowns=items(bodies["Unknowns"]),
        open_questions=questions,
    )


def format_intent(intent: Intent) -> str:
    type_ = intent.deliverable_type.capitalize()
    bodies = (
        f"{type_} — {intent.reasoning}" if intent.reasoning else type_,
        intent.objective,
        *map(bullets, (intent.assumptions, intent.constraints, intent.unknowns, intent.open_questions)),
    )
    parts = [f"# {intent.name}"] if intent.name else []
    parts += [f"## {title}\n\n{body}" for title, body in zip(SECTIONS, bodies, strict=True)]
    return "\n\n".join(parts) + "\n"


def named(intent: Intent, name: str) -> Intent:
    return replace(intent, name=one_line(name))


def unknowns(intent: Intent) -> tuple[str, ...]:
    """Everything that has to be decided before anything is built."""
    return tuple(dict.fromkeys((*intent.unknowns, *intent.open_questions)))


def deliverable_type(body: str, types: Collection[str]) -> tuple[str, str]:
    """The type that the section's first word names, and the reasoning after it. Two types at once name none."""
    first = _WORD.match(body)
    if first is None or (name := first[1].rstrip("-_").lower()) not in types:
        return "", ""
    rest = body[first.end(1) :]
    if (other := _ALTERNATIVE.match(rest)) and other[1].rstrip("-_").lower() in types:
        return "", ""
    return name, rest.lstrip("*_`\"'-–—:;., \t\n").strip()


def items(body: str) -> tuple[str, ...]:
    """The items of a list, each on one line. What is indented under an item belongs to it; without any bullets, each
    paragraph is an item. A line that only leads to the list is left out, and so is an item that says "none"
    or only closes the letter.
    """
    found: list[list[str]] = []
    base: int | None = None
    fresh = True
    for line in body.expandtabs(4).splitlines():
        bullet = _BULLET.fullmatch(line)
        if bullet and (base is None or len(bullet[1]) <= base + 1):
            if base is None and found and found[-1][-1].rstrip().endswith(":"):
                found.pop()
            base = len(bullet[1]) if base is None else min(base, len(bullet[1]))
            found.append([_BOX.sub("", bullet[2] or "", count=1)])
        elif not line.strip():
            fresh = True
            continue
        elif found and not (fresh and not line.startswith(" ")):
            found[-1].append((bullet[2] or "") if bullet else line)
        else:
            found.append([line])
        fresh = False
    texts = [one_line(" ".join(lines)) for lines in found]
    return tuple(text for text in texts if not says_nothing(text) and not is_pleasantry(text))


def says_nothing(text: str) -> bool:
    """Whether it only says that there is none, as in “None identified”."""
    return _NOTHING.fullmatch(text) is not None


def is_pleasantry(text: str) -> bool:
    return _PLEASANTRY.fullmatch(text) is not None


def bullets(texts: Collection[str]) -> str:
    return "\n".join(f"- {one_line(text)}" for text in texts) or "None"


def one_line(text: str) -> str:
    return " ".join(text.split())


def headed(text: str) -> Iterator[tuple[int, str]]:
    """Each line with its heading level: 0 for plain text and for everything inside a code fence."""
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and fence in {"", mark[1]}:
            fence = "" if fence else mark[1]
        heading = None if fence or mark else _HEADING.fullmatch(line)
        yield (len(heading[1]), heading[2]) if heading else (0, line)


def under(text: str, title: str) -> str:
    """What stands under the heading `title`, given in small letters, without the headings in it."""
    inside = 0
    lines: list[str] = []
    for level, line in headed(text):
        if level and one_line(line).strip("*_: ").casefold() == title:
            inside = level
        elif level and level <= inside:
            inside = 0
        elif inside:
            lines.append("" if level else line)
    return "\n".join(lines)


def _sections(text: str) -> tuple[str | None, list[tuple[str, str]]]:
    """Headings count first; then lines that only look like headings; then the same inside of code fences."""
    unfenced = "\n".join(line for line in text.splitlines() if not _FENCE.match(line))
    for source, loose in ((text, False), (unfenced, False), (unfenced, True)):
        name, found = _split(source, loose=loose)
        if found:
            return name, found
    return None, []


def _split(text: str, *, loose: bool) -> tuple[str | None, list[tuple[str, str]]]:
    name: str | None = None
    found: list[tuple[str, list[str]]] = []
    for level, line in headed(text):
        title = _section_title(line) if level or (loose and _looks_like_title(line)) else None
        if title:
            found.append((title[0], [title[1]]))
        elif level == 1 and name is None and not found:
            name = _plain(line) or None
        elif found:
            found[-1][1].append("#" * level + " " + line if level else line)
    # The indentation of the first line tells which bullets are nested.
    return name, [(title, "\n".join(lines).rstrip()) for title, lines in found]


def _section_title(line: str) -> tuple[str, str] | None:
    """The section that a heading names, and what follows on the same line."""
    bare = _NUMBER.sub("", line.strip().lstrip("*_` "), count=1).lstrip("*_` ")
    match = _TITLE.match(bare)
    rest = bare[match.end() :].strip("*_` ") if match else ""
    if match is None or (rest and rest[0] not in ":—–-("):
        return None
    title = next(s for s in SECTIONS if s.lower().startswith(one_line(match[1]).lower()))
    return title, "" if rest.startswith("(") else rest.lstrip(":—–-*_` ")


def _looks_like_title(line: str) -> bool:
    bare = line.strip()
    match = _TITLE.search(bare)
    if match is None:
        return False
    alone = not bare[match.end() :].strip("*_`: ")
    marked = bare.startswith(("**", "__")) or match[1].isupper()
    return marked or (alone and (bare.endswith(":") or _NUMBER.match(bare) is not None))


def _plain(title: str) -> str:
    plain = one_line(title.strip("*_`# "))
    # An agent that copied the form instead of filling it in has not named anything.
    return "" if plain.startswith("{") else plain


def _wrong_shape(titles: list[str]) -> Iterator[str]:
    if missing := [title for title in SECTIONS if title not in titles]:
        yield f"The intent has no section {', '.join(missing)}."
    if twice := sorted({title for title in titles if titles.count(title) > 1}):
        yield f"The intent has {', '.join(twice)} more than once."
    elif not missing and titles != list(SECTIONS):
        yield f"The sections are not in their order: {', '.join(titles)}."
