"""What a turn needs of the engine below it: steps that are done once, whatever happens, and a way to tell others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from forge.events import Event

if TYPE_CHECKING:
    from forge.engine.run import Reply

Json = dict[str, Any]


class Steps(Protocol):
    """One durable run. After a crash the same code runs again; what a step gave is not asked for a second time."""

    @property
    def id(self) -> str: ...

    async def step(self, name: str, function: Callable[[], Awaitable[Any]]) -> Any:
        """Do it unless it was done before, and give what it gave. In a cancelled run, `RunCancelled`, once."""

    async def ask(self, text: str, options: Sequence[str] = ()) -> Reply:
        """Ask a person and wait, over crashes too; what was answered is not asked for again."""

    def emit(self, event: Event) -> None:
        """Tell whoever follows this run; once for each place in the code, however often it runs."""
