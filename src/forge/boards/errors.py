"""What can go wrong with somebody else's board. Callers log it; a project continues without its card."""

from __future__ import annotations

from forge.errors import InvalidInput, Upstream


class BoardInvalid(InvalidInput):
    """A board's settings cannot work."""

    code = "board_invalid"


class BoardFailed(Upstream):
    """The board's program or server is missing, refuses, or does not answer."""

    code = "board_failed"
