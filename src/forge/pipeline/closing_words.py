"""The last words of a project in its chat: what became of it, and how to merge what was built."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forge.projects.info import ProjectInfo


def how_to_merge(info: ProjectInfo) -> str:
    """A paragraph of its own; empty where there is no branch to merge."""
    if not info.branch or not info.baseline:
        return ""
    command = f"forge merge {info.branch} --conversation"
    return f"\n\nMerge it with `{command} keep`, or with `{command} drop` to leave the conversation out."
