"""The documents as tests read them: headings, links, and fenced blocks with the comment above each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
_FENCE = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*?) -->\n)?(?P<fence>```+)(?P<language>[^\n`]*)\n(?P<text>.*?)^(?P=fence)$", re.M | re.S
)
_LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^()\s]+)\)")
_HEADING = re.compile(r"^#+ (.+?)\s*$", re.M)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. `mark` is what the comment in the line above says to the tests."""

    document: Path
    line: int
    language: str
    mark: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"


def documents() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def blocks(document: Path) -> Iterator[Block]:
    text = document.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(document, line, found["language"].strip(), found["mark"] or "", found["text"])


def links(document: Path) -> list[str]:
    """Targets inside of this repository."""
    found = (match["target"] for match in _LINK.finditer(_prose(document)))
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def anchors(document: Path) -> set[str]:
    """The names that headings are reached by, as code hosts make them."""
    names: set[str] = set()
    for heading in _HEADING.findall(_prose(document)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        name = base = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        again = 0
        while name in names:
            again += 1
            name = f"{base}-{again}"
        names.add(name)
    return names


def _prose(document: Path) -> str:
    return _FENCE.sub("", document.read_text(encoding="utf-8"))
