"""The system prompt of an agent that builds: prompt files first, then the project's documents.

It is the same for every order of a build, so that what is sent stays the beginning of what is sent next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def system_prompt(prompts: Sequence[str], documents: Mapping[str, str]) -> str:
    parts = [text.strip() for text in prompts]
    parts += [f"<{name}>\n{text.strip()}\n</{name}>" for name, text in documents.items() if text.strip()]
    return "\n\n".join(parts) + "\n"
