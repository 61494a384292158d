"""The notes of people on a project, as its agents read them."""

from __future__ import annotations

from forge.app.access.identity import LOCAL, Shop, owner_of, writers
from forge.store.notes import Notes

HEADING = "## User Notes"


def with_user_notes(shop: Shop, project: str, text: str) -> str:
    """The text that an agent is sent, followed by the notes of everybody who may change the project.

    Whoever may only read a project does not speak to its agents.
    """
    may = {*writers(shop, "project", project), LOCAL.id, owner_of(shop, "project", project)}
    notes = [note for each in Notes(shop.database).of(project) if each.user in may and (note := each.text.strip())]
    return "\n\n".join([text, HEADING, *notes]) if notes else text
