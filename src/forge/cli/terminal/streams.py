"""Standard output and error as Forge uses them: UTF-8 whatever the locale, and a reader who left is no failure."""

from __future__ import annotations

import os
import sys
from typing import IO


def prepare() -> None:
    """Let names of any bytes through on standard output, and everything else on standard error readably."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # it was closed before we started
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - as long as the process
    for stream, errors in ((sys.stdout, "surrogateescape"), (sys.stderr, "backslashreplace")):
        stream.reconfigure(encoding="utf-8", errors=errors)  # type: ignore[union-attr]


def is_closed(stream: IO[str]) -> bool:
    """Whether it was closed before we started. What was opened for us has another name, even where it is nothing."""
    return getattr(stream, "name", None) == os.devnull


def abandon(stream: IO[str]) -> None:
    """Send the rest nowhere: nobody reads it, and Python must not fail on it once more at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
