"""Documents that Forge drafts and people edit: section by section, what a person changed stays as they left it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

_SECTION = re.compile(r"^(?=## )", re.MULTILINE)


def marks(text: str) -> dict[str, str]:
    """What Forge wrote, by heading, for telling a person's edits from it at any later draft."""
    return {title: _digest(body) for title, body in _sections(text).items()}


def edited(base: Mapping[str, str], present: str) -> tuple[str, ...]:
    """Headings of what is not as Forge wrote it: changed, added or removed."""
    mine = _sections(present)
    changed = [title for title, body in mine.items() if _digest(body) != base.get(title)]
    return (*changed, *(title for title in base if title not in mine))


def merged(base: Mapping[str, str], present: str, fresh: str) -> str:
    """A new draft over an old one: what a person changed, added or removed is as they left it, the rest is new."""
    mine, new, theirs = _sections(present), _sections(fresh), set(edited(base, present))
    kept = [mine[title] if title in theirs else new[title] for title in new if title in mine or title not in base]
    added = [body for title, body in mine.items() if title not in new and title in theirs]
    return "\n\n".join(body.strip("\n") for body in (*kept, *added)) + "\n"


def _sections(text: str) -> dict[str, str]:
    """By heading; what is before the first is under an empty name."""
    parts = (part for part in _SECTION.split(text) if part.strip())
    return {part.partition("\n")[0].strip() if part.startswith("## ") else "": part for part in parts}


def _digest(body: str) -> str:
    return hashlib.sha256(body.strip().encode()).hexdigest()[:16]
