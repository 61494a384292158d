"""What a turn needs of the engine below it: steps that are done once, whatever happens, and a way to tell others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from forge.events import Event

Json = dict[str, Any]


class Steps(Protocol):
    """One durable run. After a crash the same code runs again; what a step gave is not asked for a second time."""

    @property
    def id(self) -> str: ...

    async def step(self, name: str, function: Callable[[], Awaitable[Any]]) -> Any:
        """Do it unless it was done before, and give what it gave. In a cancelled run, `RunCancelled`, once."""

    def emit(self, event: Event) -> None:
        """Tell whoever follows this run; once for each place in the code, however often it runs."""
