"""The person's own terminal, handed to a shell in the sandbox: each key goes in, each byte of output comes out."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import threading
import tty
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from forge.errors import InvalidInput

if TYPE_CHECKING:
    from forge.app.repositories.commands import CommandRun
    from forge.app.repositories.terminals import Terminal

_CHUNK = 4096
_KEYS, _SCREEN = 0, 1
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_USUAL = b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[?47l\x1b[?25h\x1b[0m"
"""Mouse and paste reports off, the first screen, a cursor, no colour: a program that was killed left them."""
_LARGEST_SIDE = 1_000


class TerminalNeeded(InvalidInput):
    """A command that only a person at a terminal can use."""

    code = "terminal_needed"


def has_terminal() -> bool:
    return os.isatty(_KEYS) and os.isatty(_SCREEN)


@contextmanager
def until_decided() -> Iterator[None]:
    """A window that closes sends several signals; none of them may end the process before the changes are kept.

    The person's answer ends with the terminal, or with an interrupt.
    """
    before = {
        signal.SIGHUP: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        signal.SIGTERM: signal.signal(signal.SIGTERM, signal.default_int_handler),
    }
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


class RawTerminal:
    """Connects the terminal of this process with a shell. Signals need the main thread, so `run` does too."""

    def __init__(self, shell: Terminal) -> None:
        self._shell = shell
        self.ended_by: int | None = None
        """The signal that ended it; SIGHUP too where the terminal went away."""

    def run(self) -> CommandRun:
        """Until the shell ends. The terminal is as before then, whatever happened."""
        ended: Future[CommandRun] = Future()
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        worker = threading.Thread(target=self._work, args=(ended, wake), name="terminal", daemon=True)
        try:
            with _raw(), _signals(wake):
                self._resize()
                worker.start()
                try:
                    self._carry(ended, woken)
                finally:
                    if not ended.done():
                        self._shell.kill()
                    worker.join()
            return ended.result()
        finally:
            os.close(woken)
            os.close(wake)

    def _work(self, ended: Future[CommandRun], wake: int) -> None:
        try:
            ended.set_result(self._shell.run(self._show))
        except BaseException as e:  # noqa: BLE001 - raised again by the thread that waits
            ended.set_exception(e)
        _wake(wake, 0)

    def _show(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(_SCREEN, data) :]
        except OSError:  # the window was closed
            self._end(signal.SIGHUP)

    def _carry(self, ended: Future[CommandRun], woken: int) -> None:
        sources = [_KEYS, woken]
        while not ended.done():
            readable, _, _ = select.select(sources, [], [])
            if woken in readable:
                self._heed(os.read(woken, _CHUNK))
            if _KEYS in readable:
                keys = _typed()
                if keys:
                    self._shell.type(keys)
                else:
                    sources.remove(_KEYS)
                    self._end(signal.SIGHUP)

    def _heed(self, numbers: bytes) -> None:
        for number in numbers:
            if number == signal.SIGWINCH:
                self._resize()
            elif number in _ENDING:
                self._end(number)

    def _end(self, number: int) -> None:
        self.ended_by = self.ended_by or int(number)
        self._shell.kill()

    def _resize(self) -> None:
        with suppress(OSError):  # a terminal that is going away has no size
            columns, rows = os.get_terminal_size(_SCREEN)
            if rows and columns:
                self._shell.resize(min(rows, _LARGEST_SIDE), min(columns, _LARGEST_SIDE))


def _typed() -> bytes:
    try:
        return os.read(_KEYS, _CHUNK)
    except OSError:  # how Linux says that the terminal is gone
        return b""


def _wake(wake: int, number: int) -> None:
    with suppress(BlockingIOError):  # it is awake already
        os.write(wake, bytes([number]))


@contextmanager
def _raw() -> Iterator[None]:
    sys.stdout.flush()
    before = termios.tcgetattr(_KEYS)
    tty.setraw(_KEYS)
    try:
        yield
    finally:
        with suppress(OSError, termios.error):  # nothing to restore where the terminal is gone
            if os.environ.get("TERM", "dumb") != "dumb":
                os.write(_SCREEN, _USUAL)
            # What was typed too late for the shell is no answer to a question that nobody has seen yet.
            termios.tcsetattr(_KEYS, termios.TCSAFLUSH, before)


@contextmanager
def _signals(wake: int) -> Iterator[None]:
    """Signals become bytes in a pipe: a handler that waited for a lock of this thread would never return."""
    before = {each: signal.signal(each, lambda number, _: _wake(wake, number)) for each in (*_ENDING, signal.SIGWINCH)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
