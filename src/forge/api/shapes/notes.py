"""Notes and working papers of a project as JSON."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from forge.api.shapes.base import Given, Shape, Text, shown, taken
from forge.app.projects.notes import LONGEST


class NoteShape(Shape):
    """`version` is 0 and `saved` null while nothing has been saved."""

    text: Text
    version: int
    saved: float | None
    model_config = shown(text="Ask Ana about the fees.", version=3, saved=1794900000.0)


class NewNote(Given):
    text: Annotated[str, Field(max_length=LONGEST)]
    seen: int | None = Field(
        default=None, ge=0, description="The version that you had; another one that is replaced goes into the audit."
    )
    model_config = taken(text="Ask Ana about the fees.", seen=3)


class PaperShape(Shape):
    """`expires` is null for a pinned paper."""

    key: str
    hash: str = Field(description="SHA-256 of its bytes.")
    size: int
    saved: float
    expires: float | None
    pinned: bool
    model_config = shown(
        key="scout/dossier.md", hash="9f86d081…", size=5120, saved=1794900000.0, expires=1794986400.0, pinned=False
    )


class PapersShape(Shape):
    papers: list[PaperShape]
