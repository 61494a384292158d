"""Running a command on a branch: a real directory, the sandbox, and what it changed back into one commit."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from forge.errors import InvalidInput
from forge.git import CollectedChange, CommitId, Operation, RefMove, Repository, WorkInProgressVFS
from forge.sandbox import Limits, Result, run

__all__ = ["Limits"]


@dataclass(frozen=True, slots=True)
class CommandRun:
    """How a command on a branch ended, what it changed there, and the commit that holds it."""

    branch: str
    base: CommitId | None
    result: Result
    changes: tuple[CollectedChange, ...]
    commit: CommitId | None
    operation: Operation | None
    notes: tuple[str, ...]


def run_on_branch(
    repo: Repository,
    workspace: WorkInProgressVFS,
    command: Sequence[str],
    *,
    limits: Limits,
    network: bool = False,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    readonly: Sequence[Path] = (),
    plain: bool = False,
    save: bool = False,
    message: str | None = None,
    cancel: threading.Event | None = None,
) -> CommandRun:
    """Run `command` on the files of a branch; with `save`, its changes become one commit.

    Changes of a command that failed or reached a limit are shown but not saved.
    """
    if not command:
        raise InvalidInput("There is no command to run.", hint="Put it after `--`.")
    base = workspace.base
    if save:
        # What could not be saved in the end is not worth running.
        move = RefMove(f"refs/heads/{workspace.branch}", base, base)
        repo.refs.refuse_unless_allowed([move], workspace.actor)
    with repo.materialize(workspace) as directory:
        result = run(
            command,
            directory.path,
            limits,
            network=network,
            env=env,
            stdin=stdin,
            readonly=readonly,
            plain=plain,
            cancel=cancel,
        )
        changes = directory.collect_changes()
        notes = (*result.notes, *map(str, directory.notes))
    commit = None
    if save and changes and result.ok:
        line = _one_line(command)
        commit = workspace.commit(message or f"run: {line}"[:72], trailers={"Forge-Command": line})
    operation = workspace.last_operation if commit else None
    return CommandRun(workspace.branch, base, result, changes, commit, operation, notes)


def _one_line(command: Sequence[str]) -> str:
    text = shlex.join(command)
    return "".join(c if c.isprintable() else " " for c in text)[:500].strip() or "command"
