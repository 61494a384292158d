"""The person's pager for long output on a terminal, chosen as git chooses it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import typer

from forge.app.repositories.catalog import Repository, configured_pager
from forge.cli.terminal.session import Session

_DEFAULTS = {"LESS": "FRX", "LV": "-c"}
"""For less: leave when all fits on one screen, show colours, leave the text on the screen."""


@contextmanager
def paged(context: typer.Context, repo: Repository) -> Iterator[None]:
    """What is printed inside goes through the pager; without a terminal, for JSON or with --no-pager it does not."""
    session: Session = context.obj
    out = session.output
    wanted = out.terminal and not out.json and not session.no_pager and os.environ.get("TERM") != "dumb"
    command = _command(repo) if wanted else None
    if command is None:
        yield
        return
    out.flush()
    screen = os.dup(sys.stdout.fileno())
    try:
        pager = _started(command, screen)
    except OSError:
        os.close(screen)
        yield
        return
    try:
        yield
    finally:
        _finished(pager, screen)


def _command(repo: Repository) -> str | None:
    for wanted in (os.environ.get("GIT_PAGER"), configured_pager(repo), os.environ.get("PAGER"), "less"):
        if wanted is not None:
            return None if wanted.strip() in ("", "cat") else wanted
    return None


def _started(command: str, screen: int) -> subprocess.Popen[bytes]:
    """Through a shell, as git does it: people write options and pipes into it."""
    env = {**_DEFAULTS, **os.environ}
    pager = subprocess.Popen(["sh", "-c", command], stdin=subprocess.PIPE, stdout=screen, env=env)
    assert pager.stdin is not None
    os.dup2(pager.stdin.fileno(), sys.stdout.fileno())
    pager.stdin.close()
    return pager


def _finished(pager: subprocess.Popen[bytes], screen: int) -> None:
    """Give the pager its end of input and wait until the person leaves it."""
    with suppress(OSError, ValueError):  # whoever left early has seen enough
        sys.stdout.flush()
    os.dup2(screen, sys.stdout.fileno())
    os.close(screen)
    # Ctrl-C belongs to the pager now.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        pager.wait()
    finally:
        signal.signal(signal.SIGINT, before)
