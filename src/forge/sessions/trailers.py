"""What the commit of a turn says in its message."""

from __future__ import annotations

from forge.git.objects.commits import trailer

__all__ = ["BESIDE", "TURN", "trailer", "turn_of"]

TURN = "Forge-Turn"
BESIDE = "Forge-Commit"
"""In a commit beside a branch: the commit on the branch that it belongs to."""


def turn_of(message: str) -> str | None:
    """The turn that a commit message names."""
    return trailer(message, TURN)
