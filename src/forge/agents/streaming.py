"""How a half-streamed answer is taken back: a listener with a `restart` method is told to forget what it heard."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from forge.agents.model import OnText


@runtime_checkable
class Restartable(Protocol):
    """An `OnText` that can begin anew. A plain function is an `OnText` too; it just hears the beginning twice."""

    def restart(self) -> None:
        """The pieces heard so far are void; the answer begins again."""


def start_again(on_text: OnText) -> None:
    if isinstance(on_text, Restartable):
        on_text.restart()
