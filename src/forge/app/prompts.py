"""The prompts in force for a person."""

from __future__ import annotations

from forge.prompts import Prompts
from forge.settings import Settings


def prompts(settings: Settings) -> Prompts:
    """Those that come with Forge, with the person's own in their place."""
    return Prompts(settings.prompts_directory)
