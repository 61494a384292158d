"""Contract text in delivered files: found by runs of words, so that rewrapped or partly quoted text is found.

Code identifiers and endpoint paths are no leaks: a run of words needs some that are prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from forge.contracts import contract, markdown
from forge.contracts.kinds import FOLDER, ORDER, Kind

Code = Literal["contract_text", "contract_name", "forge_metadata"]
QUOTATIONS = ((7, 3), (9, 2))
"""So many words in a row that a contract has too are a quotation, if so many of them are not common words."""
LARGEST = 4_000_000
"""Bytes of a file; nobody writes a larger one by hand."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_CODE_SPAN = re.compile(r"`[^`\n]*`|https?://\S+|(?<![\w])/[\w{}/.-]+|\b\w+(?:_\w+)+\b|\b\w+\(\)")
_PREFIX = re.compile(r"^\s*(?:#+|//+|/\*+|\*+/?|--|;+|%+|<!--|>+|[-*+]|\d+[.)]|[Rr][Ee][Mm]\b)\s?")
_KEPT = frozenset({"summary", "description", "reason", "title"})
_COMMON = frozenset(
    """
    a an the of to in on at by for from with without and or not no is are was were be been it its this that these those
    as if then than so but all any each every one two who which what when where how has have had do does can may must
    will would should could into out up down over under only also more most other same such i you we they he she his her
    their our your my use used using see set get new
    """.split()  # noqa: SIM905 - a list of words reads as words
)
_FILES = "|".join(re.escape(kind.file) for kind in ORDER)
_NAMES = re.compile(
    rf"(?<![\w-]){FOLDER}/(?:{_FILES})\b|\bbuilder[_ ]directive(?:\.md)?\b|\b(?:physics\.yaml|boundaries\.json)\b"
    r"|\b(?:manifesto|blueprint|physics|boundaries|phases) contract\b",
    re.IGNORECASE,
)
_SPLIT = {
    **dict.fromkeys(("manifesto", "blueprint", "physics", "boundaries", "phases"), ("contract", "contracts")),
    "builder": ("directive",),
}
"""Names of contracts that a line break may part."""
_METADATA = re.compile(
    r"(?<![\w./-])Forge/[A-Za-z]\w*|(?<![\w./-])\.forge/\w+|\bForge-(?:Turn|Run|Step|Session|Build)\b"
    r"|\bContract-(?:Run|Reads|Draft|Editor):|\bforge_(?:get|list|set|store|ask|read)_\w+|\bforge_scratchpad\b"
)


@dataclass(frozen=True, slots=True)
class Leak:
    """`contract` is None where no single one is meant; `text` are the words that were found."""

    code: Code
    path: str
    line: int
    contract: Kind | None
    text: str


class LeakCheck:
    """Made once for a set of contracts, then asked about any number of files."""

    def __init__(self, contracts: Mapping[Kind, str]) -> None:
        self._shingles: dict[tuple[str, ...], Kind] = {}
        self._begins: set[tuple[str, ...]] = set()
        for kind, text in contracts.items():
            for passage in _prose(kind, text):
                words, prose = _words(passage)
                for count, least in QUOTATIONS:
                    for at in range(len(words) - count + 1):
                        if _telling(prose[at : at + count]) >= least:
                            self._shingles.setdefault(tuple(words[at : at + count]), kind)
                            self._begins.add(tuple(words[at : at + 2]))

    def leaks(self, files: Iterable[tuple[str, bytes]]) -> tuple[Leak, ...]:
        """In the order of the files; what is no text, or too large to be written by hand, is passed over."""
        return tuple(leak for path, data in files for leak in self.in_file(path, data))

    def in_file(self, path: str, data: bytes) -> Iterator[Leak]:
        """In the order of the lines. A name with an underscore is one leak, though it is two words as well."""
        if len(data) > LARGEST or b"\0" in data[:8000]:
            return
        text = data.decode("utf-8", "replace")
        once = {(each.code, each.line, each.contract): each for each in reversed([*self._in_lines(path, text)])}
        yield from sorted(once.values(), key=lambda each: each.line)

    def _in_lines(self, path: str, text: str) -> Iterator[Leak]:
        patterns = [each for each in _PATTERNS if each[1].search(text)]
        for number, line in enumerate(text.splitlines() if patterns else (), 1):
            for code, pattern in patterns:
                if found := pattern.search(line):
                    yield Leak(code, path, number, _named(found[0]), found[0])
        yield from self._quotations(path, text)

    def _quotations(self, path: str, text: str) -> Iterator[Leak]:
        words: list[str] = []
        lines: list[int] = []
        for number, line in enumerate(text.splitlines(), 1):
            for word in _WORD.findall(_PREFIX.sub(" ", line)):
                words.append(word.casefold())
                lines.append(number)
        told_until = -1
        for at, word in enumerate(words):
            if at <= told_until:
                continue
            for code, count, kind in self._at(words, at, word):
                yield Leak(code, path, lines[at], kind, " ".join(words[at : at + count]))
                # One passage is told once, not once for each of its words.
                told_until = at + count
                break

    def _at(self, words: list[str], at: int, word: str) -> Iterator[tuple[Code, int, Kind | None]]:
        for count, _ in QUOTATIONS if tuple(words[at : at + 2]) in self._begins else ():
            kind = self._shingles.get(tuple(words[at : at + count]))
            if kind is not None:
                yield "contract_text", count, kind
        if word in _SPLIT and words[at + 1 : at + 2] and words[at + 1] in _SPLIT[word]:
            yield "contract_name", 2, _named(f"{word} {words[at + 1]}")


_PATTERNS: tuple[tuple[Code, re.Pattern[str]], ...] = (("contract_name", _NAMES), ("forge_metadata", _METADATA))


def _words(passage: str) -> tuple[list[str], list[str]]:
    """All words, and the same without those of code: identifiers are quoted with a sentence, but make none."""
    code = [each.span() for each in _CODE_SPAN.finditer(passage)]
    words, prose = [], []
    for found in _WORD.finditer(passage):
        word = found[0].casefold()
        words.append(word)
        prose.append("" if any(first <= found.start() < last for first, last in code) else word)
    return words, prose


def _telling(shingle: list[str]) -> int:
    """How many words say something; `it is not one of the other` is in every text."""
    return len({word for word in shingle if word and word not in _COMMON and not word.isdigit()})


def _named(text: str) -> Kind | None:
    lower = text.casefold().replace(" ", "_")
    return next((kind for kind in reversed(ORDER) if kind.value in lower), None)


def _prose(kind: Kind, text: str) -> Iterator[str]:
    """Passages of words: paragraphs, entries of lists, rows of tables, and what data says in words."""
    if kind.form != "markdown":
        yield from _texts(contract.parse(kind, text).value, "")
        return
    passage: list[str] = []
    for _, line, is_code in markdown.lines(text):
        is_break = is_code or not line.strip() or line.startswith(("#", "|", "- ", "* "))
        if is_break and passage:
            yield " ".join(passage)
            passage = []
        if not is_code and line.strip() and not line.startswith("#"):
            passage.append(line.replace("|", " "))
    if passage:
        yield " ".join(passage)


def _texts(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _texts(each, str(key))
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each, name)
    elif isinstance(value, str) and (name in _KEPT or name == "invariants"):
        yield value
