"""The scratchpad: what agents note for later, by project and build. It outlives contexts and processes."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from forge.app.access.identity import Who
from forge.app.process.workshop import Workshop
from forge.app.projects.lookup import project_for
from forge.errors import InvalidInput, NotFound
from forge.store.scratchpads import Scratchpads

CONTRACTS_READ = "contracts_read"
"""Forge itself notes here which contracts were read."""
LONGEST = 100_000
"""Characters of one text."""
MOST = 200
"""Keys of one scratchpad."""
_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Pad:
    """The scratchpad of a project, or of one build of it."""

    project: str
    build: str = ""


class NoteKeyMissing(NotFound):
    code = "scratchpad_key_missing"


class ScratchpadRefused(InvalidInput):
    """A key that is none, or more text than a scratchpad takes."""

    code = "scratchpad_refused"


def read_key(shop: Workshop, who: Who, pad: Pad, key: str) -> str:
    found = Scratchpads(shop.database).get(project_for(shop, who, pad.project).id, pad.build, _checked(key))
    if found is None:
        raise NoteKeyMissing(f"The scratchpad has no key {key!r}.", hint="The operation `list` shows the keys.")
    return found


def list_keys(shop: Workshop, who: Who, pad: Pad) -> tuple[str, ...]:
    return Scratchpads(shop.database).keys(project_for(shop, who, pad.project).id, pad.build)


def write_key(shop: Workshop, who: Who, pad: Pad, key: str, text: str, *, append: bool = False) -> str:
    """Gives the text that is kept now. Secrets are taken out first."""
    found = project_for(shop, who, pad.project, "write")
    if _checked(key) == CONTRACTS_READ:
        raise ScratchpadRefused(f"Forge itself writes {CONTRACTS_READ!r}.", hint="Use another key.")
    kept = _kept(shop, Pad(found.id, pad.build), key, shop.redactor.text(text), append=append)
    if kept is None:
        raise ScratchpadRefused(
            f"A scratchpad has up to {MOST} keys of {LONGEST:,} characters.", hint="Write a shorter text."
        )
    return kept


def note_contract_read(shop: Workshop, pad: Pad, name: str) -> None:
    """Once for each contract; a full scratchpad stays as it is."""
    known = Scratchpads(shop.database).get(pad.project, pad.build, CONTRACTS_READ)
    if name not in (known or "").split("\n"):
        _kept(shop, pad, CONTRACTS_READ, name, append=True)


def _kept(shop: Workshop, pad: Pad, key: str, text: str, *, append: bool) -> str | None:
    if len(text) > LONGEST:
        return None
    rows = Scratchpads(shop.database)
    return rows.put(pad.project, pad.build, key, text, now=time.time(), append=append, longest=LONGEST, most=MOST)


def _checked(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise ScratchpadRefused(
            f"{key[:100]!r} is not a key.", hint="Use up to 100 letters, digits, dots and dashes, such as decisions."
        )
    return key
