"""Commands of a turn: run on its files in the sandbox, and ended when the turn is cancelled."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from forge.app.repositories.commands import run_on_branch
from forge.app.repositories.environments import Environments
from forge.git import Repository, WorkInProgressVFS
from forge.sandbox import Limits
from forge.tools.commands import CommandOutcome
from forge.tools.layer import NO_LAYER, ToolLayer

_OUTPUT_BYTES = 8 << 20
"""A test report names every test; what a model reads of it is shortened elsewhere."""


class TurnCommands:
    """The runner that tools of one turn are handed. With `plain`, it runs commands where no sandbox works, too.

    With `environments`, commands get the layer of the branch.
    """

    def __init__(self, repo: Repository, *, plain: bool = False, environments: Environments | None = None) -> None:
        self._repo = repo
        self._environments = environments
        self._plain = plain
        self.cancelled = threading.Event()

    def __call__(self, vfs: WorkInProgressVFS, command: Sequence[str], *, seconds: float) -> CommandOutcome:
        limits = Limits(seconds=seconds, output_bytes=_OUTPUT_BYTES)
        run = run_on_branch(
            self._repo,
            vfs,
            command,
            limits=limits,
            plain=self._plain,
            cancel=self.cancelled,
            environments=self._environments,
        )
        result = run.result
        return CommandOutcome(
            exit_code=result.exit_code,
            output=result.stdout_text + result.stderr_text,
            timed_out=result.timed_out,
            limited=result.limited,
            changes=run.changes,
            notes=run.notes,
        )

    def layer_key(self, vfs: WorkInProgressVFS) -> str:
        """Of the environment that its commands get."""
        return self._environments.layer_key(self._repo, vfs) if self._environments is not None else ""

    @contextmanager
    def tool_layer(self, vfs: WorkInProgressVFS) -> Iterator[ToolLayer]:
        """What tools of the repository get of it."""
        if self._environments is None:
            yield NO_LAYER
            return
        with self._environments.around(self._repo, vfs) as mounted:
            yield mounted.for_tools()

    def interrupt(self) -> None:
        self.cancelled.set()
