"""A plugin for Forge: checklists as a deliverable with their prompts, and a channel that writes notices to a file."""

from __future__ import annotations

from forge.plugins.roles import Offer, OfferedPrompt
from forge_checklist.book import book
from forge_checklist.checklist import Checklist

PROMPTS = (
    OfferedPrompt("checklist-build", "writer", 'List what has to be done. Answer in JSON: {"items": ["…"]}'),
    OfferedPrompt("checklist-review", "reviewer", 'Review the checklist. Answer in JSON: {"issues": []}'),
)


def offer() -> Offer:
    return Offer(deliverables=(Checklist(),), prompts=PROMPTS, channels={"book": book})
