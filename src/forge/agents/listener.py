"""What whoever hears an answer may be told besides its text: it begins again, is asked for again, was paid in vain.

A plain function is an `OnText` too; it is told none of this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from forge.agents.model import OnText
from forge.sessions.messages import Usage


@dataclass(frozen=True, slots=True)
class Retry:
    """A request failed in a way that may pass, and is made again."""

    kind: str
    """One of the names in `network.retries` of the settings."""
    attempt: int
    attempts: int | None
    """How often this kind is tried again at most; None where an agent program decides that."""
    wait: float | None
    """Seconds until then; None where an agent program decides that."""
    spent: Usage
    """What the requests of this answer took so far."""

    def text(self) -> str:
        """`overloaded, retrying in 8 s (3 of 6)`"""
        when = (
            "retrying" if self.wait is None else f"retrying in {self.wait:.0f} s" if self.wait >= 1 else "retrying now"
        )
        count = f"attempt {self.attempt + 1}" if self.attempts is None else f"{self.attempt} of {self.attempts}"
        return f"{TROUBLE.get(self.kind, self.kind)}, {when} ({count})"


TROUBLE = {
    "rate_limit": "rate limit reached",
    "overloaded": "overloaded",
    "server_error": "server error",
    "network": "connection failed",
    "timeout": "no answer in time",
    "cut_off": "answer broke off",
    "empty": "empty answer",
    "program": "the program failed",
}


@runtime_checkable
class Restartable(Protocol):
    def restart(self) -> None:
        """The pieces heard so far are void; the answer begins again."""


@runtime_checkable
class Watching(Protocol):
    def retrying(self, retry: Retry) -> None:
        """Told before the wait. A `ForgeError` raised here ends the asking."""

    def spent(self, usage: Usage) -> None:
        """Requests that gave no answer took this; told once, when the asking ends without one."""


def start_again(on_text: OnText) -> None:
    if isinstance(on_text, Restartable):
        on_text.restart()


def tell_retry(on_text: OnText, retry: Retry) -> None:
    if isinstance(on_text, Watching):
        on_text.retrying(retry)


def tell_spent(on_text: OnText, usage: Usage) -> None:
    if isinstance(on_text, Watching) and usage != Usage():
        on_text.spent(usage)
