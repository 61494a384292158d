"""Running a command on a branch: a real directory, the sandbox, and what it changed back into one commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from forge.errors import InvalidInput
from forge.git import CollectedChange, CommitId, Operation, Repository, WorkInProgressVFS
from forge.sandbox import Limits, Result, run


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
    save: str | None = None,
) -> CommandRun:
    """Run `command` on the files of a branch; with `save`, its changes become one commit of that message.

    Changes of a command that failed or reached a limit are shown but not saved.
    """
    if not command:
        raise InvalidInput("There is no command to run.", hint="Put it after `--`.")
    base = workspace.base
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
        )
        changes = directory.collect_changes()
        notes = (*result.notes, *map(str, directory.notes))
    commit = None
    if save is not None and changes and result.ok:
        commit = workspace.commit(save, trailers={"Forge-Command": _one_line(command)})
    operation = workspace.last_operation if commit else None
    return CommandRun(workspace.branch, base, result, changes, commit, operation, notes)


def _one_line(command: Sequence[str]) -> str:
    text = " ".join(command)
    return "".join(c if c.isprintable() else " " for c in text)[:500].strip() or "command"
