"""The notepad: one plain text per project and person, for the person and for the agents that work on the project."""

from __future__ import annotations

import time

from forge.app.access.identity import Who, audit, require
from forge.app.process.workshop import Workshop
from forge.app.projects.lookup import project_for
from forge.app.projects.named_run import topic_of
from forge.errors import InvalidInput
from forge.events import NoteSaved
from forge.store.notes import Note, Notes

__all__ = ["Note", "NoteTooLong", "save_note", "show_note"]

LONGEST = 100_000
"""Characters of one note."""


class NoteTooLong(InvalidInput):
    code = "note_too_long"


def show_note(shop: Workshop, who: Who, id_: str) -> Note:
    return Notes(shop.database).get(project_for(shop, who, id_).id, who.id)


def save_note(shop: Workshop, who: Who, id_: str, text: str, *, seen: int | None = None) -> Note:
    """Needs a key that may write; whoever may only read the project has a note, too.

    `seen` is the version that the person saw. A newer one that is replaced goes into the audit.
    """
    require(who, "write")
    project = project_for(shop, who, id_)
    if len(text) > LONGEST:
        raise NoteTooLong(
            f"A note has at most {LONGEST:,} characters; this one has {len(text):,}.", hint="Save a shorter text."
        )
    before, after = Notes(shop.database).save(project.id, who.id, text, now=time.time())
    if after is before:
        return after
    if seen is not None and seen != before.version and before.text:
        audit(shop, who, "note.replace", f"project:{project.id}", before.text)
    shop.events.publish(topic_of(project), NoteSaved(project.id, who.id, after.version))
    return after
