"""The prompts in force for a person."""

from __future__ import annotations

from forge.app.admin.plugins import prompts_of as prompts
from forge.prompts import Origin, Prompts, PromptUnusable, PromptUnwritable

__all__ = ["Origin", "PromptUnusable", "PromptUnwritable", "Prompts", "prompts"]
