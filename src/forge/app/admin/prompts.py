"""The prompts in force for a person."""

from __future__ import annotations

from forge.app.admin.plugins import plugins_of
from forge.prompts import Origin, Prompts, PromptUnusable, PromptUnwritable
from forge.settings import Settings

__all__ = ["Origin", "PromptUnusable", "PromptUnwritable", "Prompts"]


def prompts(settings: Settings) -> Prompts:
    """Those that come with Forge and with plugins, with the person's own in their place."""
    brought = plugins_of(settings).prompts
    return Prompts(settings.prompts_directory, {name: prompt.text for name, prompt in brought.items()})
