"""Names inside of a run, so that two loops in it are distinguished: in steps, in kept answers and in costs."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from forge.engine.errors import EngineMisused
from forge.events import Event
from forge.question_kinds import QuestionKind
from forge.subjects import Subject

if TYPE_CHECKING:
    from forge.engine.run import Reply, Run

# As a part of a file's name in the journal it must stay short and plain.
_SCOPE = re.compile(r"(?=.{1,120}\Z)[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*")


class ScopedRun:
    """A run whose steps are named below `scope`. Loops of one run go one after the other, never side by side."""

    def __init__(self, run: Run, scope: str) -> None:
        self._run = run
        self.scope = scope

    @property
    def id(self) -> str:
        return self._run.id

    @property
    def subject(self) -> Subject:
        return self._run.subject

    def scoped(self, name: str) -> ScopedRun:
        return self._run.scoped(f"{self.scope}/{name}")

    async def step(self, name: str, function: Callable[[], Awaitable[Any]]) -> Any:
        return await self._run.step(f"{self.scope}/{name}", function)

    def emit(self, event: Event, *, topic: str | None = None) -> None:
        self._run.emit(event, topic=topic)

    async def ask(
        self,
        text: str,
        options: Sequence[str] = (),
        *,
        kind: QuestionKind = QuestionKind.TEXT,
        timeout: float | None = None,
        context: str = "",
    ) -> Reply:
        return await self._run.ask(text, options, kind=kind, timeout=timeout, context=context)


def checked_scope(name: str) -> str:
    if not _SCOPE.fullmatch(name):
        raise EngineMisused(
            f"`{name}` cannot be a scope", hint="use small letters, digits, `.`, `_`, `-` and `/`, at most 120"
        )
    return name
