"""A plugin for Forge: checklists as a deliverable, and a channel that writes notices to a file."""

from __future__ import annotations

from forge.plugins.contracts import Offer
from forge_checklist.book import book
from forge_checklist.checklist import Checklist


def offer() -> Offer:
    return Offer(deliverables=(Checklist(),), channels={"book": book})
