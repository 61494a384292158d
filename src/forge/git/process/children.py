"""Processes that a reader or a search starts: they end with it, however it ends."""

from __future__ import annotations

import subprocess
from contextlib import suppress


def end(process: subprocess.Popen[bytes]) -> None:
    """Stop the process, wait for it and close its pipes, also when it is long dead."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            # What was still to be sent has no reader any more.
            with suppress(OSError):
                pipe.close()
