"""The words that agents are given: files that come with Forge, and a person's own in their place."""

from forge.prompts.errors import PromptMissing, PromptUnusable, PromptUnwritable
from forge.prompts.registry import LARGEST, Origin, Prompt, Prompts

__all__ = ["LARGEST", "Origin", "Prompt", "PromptMissing", "PromptUnusable", "PromptUnwritable", "Prompts"]
