"""A sign of life on standard error while something takes long."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Self

from forge import events
from forge.cli.terminal.output import Output, shown

_PATIENCE = 0.5
"""Seconds; what is done by then shows nothing."""
_OFTEN = 0.2
_SILENCE = 8.0
"""Seconds; nobody is left without a word for ten."""


@contextmanager
def waiting(out: Output, what: str | Callable[[], str]) -> Iterator[None]:
    """Show a spinner with the time, only on a terminal and only if it takes long; it leaves nothing behind."""
    if out.json or not sys.stderr.isatty():
        yield
        return
    done = Event()
    spinner = Thread(target=_spin, args=(what, done), daemon=True)
    spinner.start()
    try:
        yield
    finally:
        done.set()
        spinner.join()


def _spin(what: str | Callable[[], str], done: Event) -> None:
    if done.wait(_PATIENCE):
        return
    from rich.console import Console  # noqa: PLC0415 - costs time that short commands must not pay
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        says = what if callable(what) else lambda: what
        task = progress.add_task(shown(says()), total=None)
        while not done.wait(_OFTEN):
            progress.update(task, description=shown(says()))


class Pulse:
    """While a turn or a project is followed: a line on standard error whenever nothing was shown for a while.

    On a terminal it is one line that is written anew and goes when something happens; else each time a line of its own.
    """

    def __init__(
        self, out: Output, what: str, *, rest: Callable[[], None] = lambda: None, silence: float = _SILENCE
    ) -> None:
        """`rest` ends a line of text that is still open on standard output."""
        self._out = out
        self._what: str | None = what
        self._rest = rest
        self._silence = silence
        self._since = self._shown_at = time.monotonic()
        self._is_terminal = sys.stderr.isatty()
        self._is_drawn = False

    async def __aenter__(self) -> Self:
        self._beating = asyncio.create_task(self._beat())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._beating.cancel()
        await asyncio.gather(self._beating, return_exceptions=True)
        self._clear()

    def heard(self, event: events.Event) -> None:
        """To be told before the event is shown."""
        self._clear()
        self._since = self._shown_at = time.monotonic()
        match event:
            case events.TurnStarted(model=model):
                self._what = f"waiting for {model}"
            case events.ModelRetryScheduled(model=model, text=text):
                self._what = f"{model}: {text}"
            case events.ToolStarted(name=name):
                self._what = f"{name} is running"
            case events.ToolEnded() | events.TextRestarted():
                self._what = "waiting for the model"
            case events.ProjectProgressed(text=text):
                self._what = text
            case events.QuestionAsked():
                self._what = None  # it is the person who is waited for
            case events.QuestionClosed():
                self._what = "waiting for the model"

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(min(1.0, self._silence))
            now = time.monotonic()
            often = 1.0 if self._is_drawn and self._is_terminal else self._silence
            if self._what is not None and now - self._shown_at >= often:
                self._show(f"… {self._what} ({now - self._since:.0f} s)")
                self._shown_at = now

    def _show(self, text: str) -> None:
        if not self._is_terminal:
            self._out.note(text)
            return
        if not self._is_drawn:
            self._rest()
        self._is_drawn = True
        self._out.raw_error(b"\r\x1b[K" + shown(text).encode("utf-8", "replace"))

    def _clear(self) -> None:
        if self._is_drawn:
            self._is_drawn = False
            self._out.raw_error(b"\r\x1b[K")
