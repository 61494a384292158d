"""Terminals on branches: a shell in the sandbox on the files of a branch, whose changes can become a commit."""

from __future__ import annotations

import os
import re
import shlex
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from forge.app.access.identity import LOCAL, Who, audit, require
from forge.app.repositories import carried_marks
from forge.app.repositories.catalog import actor_of, author_of, existing_branch, limited, repository
from forge.app.repositories.commands import CommandRun, run_on_branch
from forge.errors import Conflict, InvalidInput
from forge.git import Repository, WorkInProgressVFS
from forge.sandbox import OWN_PYTHON, Limits, terminal

if TYPE_CHECKING:
    from forge.app.process.workshop import Workshop
    from forge.app.repositories.environments import Environments

MOST = 8
"""Terminals of one process."""
_SECONDS = 4 * 3600.0
_IDLE = 30 * 60.0
_NAME = ".forge-terminal"
_KIND = "xterm-256color"
_LONGEST_MESSAGE = 5_000
_LARGEST_SIDE = 1_000


class TooManyTerminals(Conflict):
    code = "too_many_terminals"


_open = threading.BoundedSemaphore(MOST)


@dataclass(slots=True)
class Terminal:
    """One shell. `run` stays in the thread that calls it; all else may be called from any other."""

    who: Who
    repo: Repository
    workspace: WorkInProgressVFS
    environments: Environments | None
    """None: a shell without the environment of the branch."""
    _publish: Callable[[Repository], None]
    _source: int
    _input: int
    """What is typed before the shell is there waits in the pipe."""
    command: Sequence[str] = ()
    """What to run instead of a shell."""
    kind: str = _KIND
    """What `TERM` tells programs."""
    _touched: float = field(default_factory=time.monotonic)
    _cancel: threading.Event = field(default_factory=threading.Event)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def run(self, show: Callable[[bytes], None]) -> CommandRun:
        """Until the shell ends, or its time does. What it changed is in the workspace then, and not committed."""
        try:
            return self._run(show)
        finally:
            os.close(self._source)
            self.hang_up()

    def _run(self, show: Callable[[bytes], None]) -> CommandRun:
        if not _open.acquire(blocking=False):
            raise TooManyTerminals(
                f"There are {MOST} terminals open on this server.", hint="Close one of them and try again."
            )
        try:
            return run_on_branch(
                self.repo,
                self.workspace,
                _command(self.command),
                limits=Limits(seconds=_SECONDS),
                env=_variables(self.workspace.branch, self.kind),
                needs_own_python=True,
                home={_NAME: Path(terminal.__file__).read_bytes()},
                cancel=self._cancel,
                on_output=lambda _, data: show(data),
                source=self._source,
                environments=self.environments,
            )
        finally:
            _open.release()

    def type(self, data: bytes) -> None:
        self._touched = time.monotonic()
        self._send(terminal.keys(data))

    def resize(self, rows: int, columns: int) -> None:
        if not (0 < rows <= _LARGEST_SIDE and 0 < columns <= _LARGEST_SIDE):
            raise InvalidInput("This is no size of a terminal.", hint="Send rows and columns from 1 to 1,000.")
        self._send(terminal.resized(rows, columns))

    def hang_up(self) -> None:
        """Close its input: the shell hears that nobody is there any more."""
        with self._guard, suppress(OSError):
            if self._input >= 0:
                os.close(self._input)
            self._input = -1

    def kill(self) -> None:
        self._cancel.set()

    @property
    def is_killed(self) -> bool:
        return self._cancel.is_set()

    @property
    def is_idle(self) -> bool:
        return time.monotonic() - self._touched > _IDLE

    def save(self, message: str) -> str:
        """One commit of all that the shell changed, by the person who typed."""
        text = message.strip()
        if not text or len(text) > _LONGEST_MESSAGE:
            raise InvalidInput("The commit message is empty or too long.", hint="Say in a line what was changed.")
        require(self.who, "write")
        self.workspace.actor = actor_of(self.who).doing("terminal.save", self.workspace.branch)
        return self._committed(text)

    def set_aside(self) -> str:
        """Nobody decided: the changes go to a branch of their own. Its name."""
        name = f"{self.workspace.branch}-terminal-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}"
        self.workspace.actor = actor_of(self.who).doing("terminal.set_aside", name)
        self._committed(f"terminal: changes on {self.workspace.branch} that nobody saved", onto=name)
        return name

    def _committed(self, message: str, onto: str | None = None) -> str:
        author = author_of(self.repo, self.who)
        if onto is None:
            made = carried_marks.commit(self.repo, self.workspace, message, author)
        else:
            made = self.workspace.commit(message, author, onto=onto)
        self._publish(self.repo)
        return made

    def _send(self, frame: bytes) -> None:
        with self._guard, suppress(BrokenPipeError):
            if self._input >= 0:
                left = memoryview(frame)
                while left:
                    left = left[os.write(self._input, left) :]


def _variables(branch: str, kind: str) -> Mapping[str, str]:
    # The shell would run what a name holds in its prompt.
    name = re.sub(r"[^\w./-]", "?", branch)
    return {"TERM": kind, "PS1": f"{name} $ "}


def open_terminal(shop: Workshop, who: Who, repo_id: str, branch: str) -> Terminal:
    """Needs the scope `run`. Whoever may not change the branch cannot save what the shell changed."""
    repo = limited(repository(shop, who, repo_id, "run"), shop.settings)
    workspace = repo.workspace(existing_branch(repo, branch), actor=actor_of(who))
    audit(shop, who, "terminal.open", f"repository:{repo_id}", branch)
    return Terminal(who, repo, workspace, shop.environments, shop.feed.publish, *os.pipe())


def own_terminal(
    repo: Repository, branch: str, environments: Environments | None, *, command: Sequence[str] = (), kind: str = ""
) -> Terminal:
    """For the person at this machine, in their own process. Servers find the commit in the log of operations."""
    workspace = repo.workspace(existing_branch(repo, branch), actor=actor_of(LOCAL))
    source, sink = os.pipe()
    return Terminal(LOCAL, repo, workspace, environments, lambda _: None, source, sink, command, kind or _KIND)


def _command(wanted: Sequence[str]) -> list[str]:
    script = f'exec {shlex.join(OWN_PYTHON)} -I -S "$HOME/{_NAME}" "$@"'
    shell = ("sh", "-c", "command -v bash > /dev/null && exec bash; exec sh")
    return ["sh", "-c", script, "sh", *(wanted or shell)]
