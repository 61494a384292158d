"""What can be wrong with a prompt. Each error names the file and how to get the default back."""

from __future__ import annotations

from forge.errors import InvalidInput, NotFound, Upstream


class PromptUnusable(InvalidInput):
    """There is a file, and no agent could be given it."""

    code = "prompt_unusable"


class PromptMissing(NotFound):
    code = "prompt_missing"


class PromptUnwritable(Upstream):
    code = "prompt_unwritable"
