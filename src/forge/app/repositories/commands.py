"""Running a command on a branch: a real directory, the sandbox, and what it changed back into one commit."""

from __future__ import annotations

import shlex
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from forge.app.repositories import carried_marks
from forge.app.repositories.environments import Environments
from forge.environment.mounted import NOTHING
from forge.errors import InvalidInput
from forge.git import CollectedChange, CommitId, Operation, RefMove, Repository, WorkInProgressVFS
from forge.sandbox import CommandResult, Limits, run
from forge.sandbox.streams import OnOutput

__all__ = ["Limits"]

_LEAST_COLLECTING, _MOST_COLLECTING = 2.0, 10.0
_NOTES = 100


@dataclass(frozen=True, slots=True)
class CommandRun:
    """How a command on a branch ended, what it changed there, and the commit that holds it."""

    branch: str
    base: CommitId | None
    result: CommandResult
    changes: tuple[CollectedChange, ...]
    commit: CommitId | None
    operation: Operation | None
    notes: tuple[str, ...]
    directory: str = ""
    """Where its files were; it is gone or belongs to another command by now."""


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
    collect: bool = True,
    on_output: OnOutput | None = None,
    environments: Environments | None = None,
    home: Mapping[str, bytes] | None = None,
    source: int | None = None,
    needs_own_python: bool = False,
    on_start: Callable[[], None] = lambda: None,
) -> CommandRun:
    """Run `command` on the files of a branch; with `save`, its changes become one commit.

    Changes of a command that failed or reached a limit are shown but not saved. The time limit holds for collecting
    them, too: changes that are not collected in time are counted in a note, and none is saved. Without `collect`
    nobody wants them. With `environments`, the command gets the layer of the branch.
    """
    if not command:
        raise InvalidInput("There is no command to run.", hint="Put it after `--`.")
    base = workspace.base
    if save:
        # What could not be saved in the end is not worth running.
        move = RefMove(f"refs/heads/{workspace.branch}", base, base)
        repo.refs.refuse_unless_allowed([move], workspace.actor)
    around = environments.around(repo, workspace) if environments else nullcontext(NOTHING)
    with around as mounted, repo.materialize(workspace) as directory:
        started = time.monotonic()
        on_start()
        result = run(
            mounted.command(command),
            directory.path,
            limits,
            network=network,
            env={**mounted.variables, **(env or {})},
            stdin=stdin,
            readonly=readonly,
            plain=plain,
            cancel=cancel,
            on_output=on_output,
            at=mounted.at,
            mounts=mounted.mounts,
            home=home,
            source=source,
            root=mounted.root,
            needs_own_python=needs_own_python,
        )
        mounted.tidy(directory.path)
        until = max(started + limits.seconds, time.monotonic() + time_to_collect(limits))
        changes = directory.collect_changes(until=until) if collect else ()
        notes = (*result.notes, *mounted.notes, *shortened(directory.notes))
        if directory.incomplete:
            result = replace(result, timed_out=True, limited=tuple(dict.fromkeys((*result.limited, "time"))))
            notes = (*notes, directory.incomplete)
    commit = None
    if save and changes and result.ok and not directory.incomplete:
        line = _one_line(command)
        workspace.actor = workspace.actor.doing("command.save", f"{workspace.branch}: {line}")
        text = message or f"run: {line}"[:72]
        commit = carried_marks.commit(repo, workspace, text, trailers={"Forge-Command": line})
    operation = workspace.last_operation if commit else None
    return CommandRun(
        workspace.branch,
        base,
        result,
        changes,
        commit,
        operation,
        notes,
        mounted.at or str(directory.path),
    )


def time_to_collect(limits: Limits) -> float:
    """Seconds that collecting always has, also after a command that used up its time."""
    return min(_MOST_COLLECTING, max(_LEAST_COLLECTING, limits.seconds / 10))


def shortened(notes: Sequence[object]) -> list[str]:
    """As many notes as a person reads, and how many more there are."""
    more = [f"{len(notes) - _NOTES:,} more notes of this kind"] if len(notes) > _NOTES else []
    return [*map(str, notes[:_NOTES]), *more]


def _one_line(command: Sequence[str]) -> str:
    text = shlex.join(command)
    return "".join(c if c.isprintable() else " " for c in text)[:500].strip() or "command"
