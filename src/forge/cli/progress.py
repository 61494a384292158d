"""A sign of life on standard error while something takes long."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from forge.cli.output import Output, shown

_PATIENCE = 0.5
"""Seconds; what is done by then shows nothing."""


@contextmanager
def waiting(out: Output, what: str) -> Iterator[None]:
    """Show a spinner with the time, only on a terminal and only if it takes long; it leaves nothing behind."""
    if out.json or not sys.stderr.isatty():
        yield
        return
    done = Event()
    spinner = Thread(target=_spin, args=(shown(what), done), daemon=True)
    spinner.start()
    try:
        yield
    finally:
        done.set()
        spinner.join()


def _spin(what: str, done: Event) -> None:
    if done.wait(_PATIENCE):
        return
    from rich.console import Console  # noqa: PLC0415 - costs time that short commands must not pay
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        progress.add_task(what, total=None)
        done.wait()
