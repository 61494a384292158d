"""What can go wrong, as a person or a program sees it.

ForgeError            code, message, hint
├── InvalidInput      the request itself is wrong
├── NotFound          what it names does not exist
├── Conflict          it clashes with what is there now
├── Denied            policy refuses it
└── Upstream          the disk, git or another program failed

Faces switch on `code`, never on the text. Each error says what happened and, in `hint`, what to do next.
"""

from __future__ import annotations


class ForgeError(Exception):
    """Base of every error that Forge raises on purpose."""

    code = "error"

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message


class InvalidInput(ForgeError):
    code = "invalid_input"


class NotFound(ForgeError):
    code = "not_found"


class Conflict(ForgeError):
    code = "conflict"


class Denied(ForgeError):
    code = "denied"


class Upstream(ForgeError):
    code = "upstream"
