"""How a project's documents were made, told beside them in `docs/how-this-was-made.md` and never inside of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forge.pipeline.draft import Draft

NOTE = "docs/how-this-was-made.md"
BY_RULES = "Sorted by Forge's built-in rules. No model was asked."


def note(draft: Draft, document: str, lines: Sequence[str]) -> None:
    """Say how `document` was made, in place of what was said about it before."""
    made = {**draft.info.made, document: list(lines)}
    draft.info = replace(draft.info, made=made)
    parts = (f"## {title}\n\n" + "\n".join(f"- {line}" for line in told) for title, told in made.items())
    draft.write(NOTE, "# How this was made\n\n" + "\n\n".join(parts) + "\n")


def written_by(draft: Draft, document: str, who: str) -> None:
    """Only where rules made it before: whoever reads the note should not believe that they still did."""
    if document in draft.info.made:
        note(draft, document, [f"Written by {who}."])
