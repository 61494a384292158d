"""The prompts in force for a person."""

from __future__ import annotations

from forge.prompts import Origin, Prompts, PromptUnusable, PromptUnwritable
from forge.settings import Settings

__all__ = ["Origin", "PromptUnusable", "PromptUnwritable", "Prompts"]


def prompts(settings: Settings) -> Prompts:
    """Those that come with Forge, with the person's own in their place."""
    return Prompts(settings.prompts_directory)
