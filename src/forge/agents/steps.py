"""What a loop needs of the engine below it: steps that are done once, whatever happens, and a way to tell others."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from forge.events import Event

if TYPE_CHECKING:
    from forge.engine.run import Reply


class Steps(Protocol):
    """One durable run. After a crash the same code runs again; what a step gave is not asked for a second time."""

    @property
    def id(self) -> str: ...

    @property
    def scope(self) -> str:
        """What the names of steps begin with; empty where the run is one loop only."""

    def scoped(self, name: str) -> Steps:
        """The same run for one loop in it; each name is given once."""

    async def step(self, name: str, function: Callable[[], Awaitable[Any]]) -> Any:
        """Do it unless it was done before, and give what it gave. In a cancelled run, `RunCancelled`, once."""

    async def ask(self, text: str, options: Sequence[str] = ()) -> Reply:
        """Ask a person and wait, over crashes too; what was answered is not asked for again."""

    def emit(self, event: Event) -> None:
        """Tell whoever follows this run; once for each place in the code, however often it runs."""


def key(steps: Steps, name: str) -> str:
    """How a step is called in its whole run: the name of its kept answer and of its cost."""
    return f"{steps.scope}/{name}" if steps.scope else name
