"""A run as its workflow sees it: steps that happen once, questions that wait, events that are not doubled."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from forge.engine.encoding import plain
from forge.engine.errors import EngineMisused, RunCancelled, StepFailed
from forge.engine.scope import ScopedRun, checked_scope
from forge.errors import ForgeError
from forge.events import Event, QuestionAsked, QuestionClosed
from forge.question_kinds import QuestionKind
from forge.store.questions import Question
from forge.subjects import Subject

if TYPE_CHECKING:
    from forge.engine.execution import Execution

_step: ContextVar[str | None] = ContextVar("forge_step", default=None)
_LOOK_AGAIN = 5.0


@dataclass(frozen=True, slots=True)
class Reply:
    """How a question ended. `text` is the answer, where there is one."""

    how: Literal["answered", "timed_out", "cancelled"]
    text: str | None = None


def cancelled(run_id: str) -> RunCancelled:
    return RunCancelled(f"the run {run_id} was cancelled", hint="start it again if that was not meant")


class Run:
    """Handed to a workflow function. What it does outside of steps must come out the same when it is done again."""

    def __init__(self, run_id: str, subject: Subject, execution: Execution) -> None:
        self.id = run_id
        self.subject = subject
        self._here = execution
        self._steps = 0
        self._questions = 0
        self._emitted: dict[str, int] = {}
        self.scope = ""
        self._scopes: set[str] = set()
        self._working: set[asyncio.Future[Any]] = set()
        self._cancel_due = False
        self._cancel_told = False

    def scoped(self, name: str) -> ScopedRun:
        """This run for one loop in it: what the loop does, keeps and costs is recorded below `name`.

        Each name is given once: under one name, the second loop would find the answers of the first.
        """
        if checked_scope(name) in self._scopes:
            raise EngineMisused(f"the scope `{name}` is used twice in the run {self.id}", hint="number it")
        self._scopes.add(name)
        return ScopedRun(self, name)

    async def step(self, name: str, function: Callable[[], Awaitable[Any]]) -> Any:
        """Do it, record what came out, and give that back; done before, only give it back.

        What it returns must be JSON. An error is recorded too and raised again on each replay, as a `ForgeError` of
        the same class; any other exception becomes `StepFailed`. A cancelled run gets `RunCancelled` here, once.
        """
        self._steps += 1
        number = str(self._steps)

        async def once() -> Any:
            return await self._work(name, number, function)

        try:
            return await self._here.durable.step(name, once)
        except RunCancelled:
            self._cancel_told = True
            raise

    async def _work(self, name: str, number: str, function: Callable[[], Awaitable[Any]]) -> Any:
        if not await self._here.may_go_on():
            # Another process has been told to continue with this run.
            raise asyncio.CancelledError
        if self._cancel_due and not self._cancel_told:
            raise cancelled(self.id)
        token = _step.set(f"{number}/in")
        work = asyncio.ensure_future(function())
        _step.reset(token)
        self._working.add(work)
        try:
            return plain(await work, what=f"the result of step {name}")
        except asyncio.CancelledError:
            if self._cancel_due and not self._cancel_told and not self._here.is_stopping(self):
                raise cancelled(self.id) from None
            raise
        except ForgeError:
            raise
        except Exception as error:
            raise StepFailed(f"step {name} failed: {type(error).__name__}: {error}", hint="see the log") from error
        finally:
            self._working.discard(work)

    def cancel(self) -> None:
        """Ends the step that is under way; without one, the next does not begin. The workflow may then clean up."""
        if not self._cancel_due:
            self._cancel_due = True
            for work in tuple(self._working):
                work.cancel()

    @property
    def is_cancelled(self) -> bool:
        return self._cancel_due

    def emit(self, event: Event, *, topic: str | None = None) -> None:
        """Publish it without waiting. On a replay it is not recorded again: its place in the run is its name."""
        origin = None
        if not event.live:
            scope = _step.get() or f"{self._steps}/after"
            number = self._emitted[scope] = self._emitted.get(scope, 0) + 1
            origin = f"{self.id}/{scope}/{number}"
        self._here.events.publish(topic or self.subject.topic, event, origin=origin)

    async def patched(self, name: str) -> bool:
        """Whether a run came here with the code as it is now; one begun before `name` was introduced says False."""
        return await self._here.durable.patched(name)

    async def ask(
        self,
        text: str,
        options: Sequence[str] = (),
        *,
        kind: QuestionKind = QuestionKind.TEXT,
        timeout: float | None = None,
        context: str = "",
    ) -> Reply:
        """Ask a person and wait, for days if need be. The deadline is kept over restarts."""
        self._questions += 1
        id_ = f"{self.id}.q{self._questions}"

        def opened() -> Question:
            return self._here.questions.ask(
                id_, run=self.id, text=text, options=options, kind=kind, timeout=timeout, context=context
            )

        async def ask() -> dict[str, Any]:
            question = await asyncio.to_thread(opened)
            self.emit(QuestionAsked(id_, self.id, text, question.options, question.expires, str(question.kind)))
            question = await self._wait(question)
            self._tell_closed(question)
            return {"how": question.state, "text": question.answer}

        reply = await self.step(f"ask {self._questions}", ask)
        return Reply(reply["how"], reply["text"])

    async def _wait(self, question: Question) -> Question:
        questions = self._here.questions
        with self._here.waiting_for(question.id) as closed:
            while question.state == "open":
                left = _LOOK_AGAIN if question.expires is None else question.expires - time.time()
                if left <= 0:
                    await asyncio.to_thread(questions.close, question.id, "timed_out")
                else:
                    await self._pause(question, closed, min(left, _LOOK_AGAIN))
                question = await asyncio.to_thread(questions.get, question.id)
        return question

    async def _pause(self, question: Question, closed: asyncio.Event, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await closed.wait()
        except TimeoutError:
            return
        except asyncio.CancelledError:
            if self._cancel_due and not self._here.is_stopping(self):
                self._here.questions.close(question.id, "cancelled")
                self._tell_closed(self._here.questions.get(question.id))
            raise

    def _tell_closed(self, question: Question) -> None:
        self.emit(QuestionClosed(question.id, self.id, question.state, question.answer))
