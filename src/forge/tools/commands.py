"""Commands as tools run them: through a runner that the application hands in, told to the model as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from forge.git import CollectedChange, WorkInProgressVFS
from forge.tools.edits import changed_paths, put, restore, snapshot, state_in
from forge.tools.places import FORGE, is_internal
from forge.tools.result_text import plural, tail
from forge.tools.tool import ToolFailed

SECONDS = 120
MOST_SECONDS = 600
_OUTPUT_BYTES = 16_000
_NAMED_FILES = 30


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """How a command ended. What it changed is in the workspace already, and named in `changes`."""

    exit_code: int
    output: str
    """What it printed, the end of it where that was long."""
    timed_out: bool = False
    limited: tuple[str, ...] = ()
    """Limits that it reached, such as memory or disk."""
    changes: tuple[CollectedChange, ...] = ()
    notes: tuple[str, ...] = ()


class Runner(Protocol):
    """Runs a command on the workspace's files, confined and without network, and takes its changes into it."""

    def __call__(self, vfs: WorkInProgressVFS, command: Sequence[str], *, seconds: float) -> CommandOutcome: ...


def run_line(runner: Runner, vfs: WorkInProgressVFS, line: str, seconds: float) -> CommandOutcome:
    """Run a shell line. One that was cut off by a limit changes nothing; Forge's own records never change."""
    before = snapshot(vfs)
    # Both streams come as one, in the order in which they were written.
    outcome = runner(vfs, ["sh", "-c", 'exec sh -c "$1" 2>&1', "sh", line], seconds=seconds)
    if outcome.timed_out or ended_by(outcome):
        restore(vfs, before)
        raise ToolFailed(_cut_off(outcome, seconds))
    own = [path for path in changed_paths(before, vfs.pending) if is_internal(path)]
    put(vfs, {path: state_in(vfs, before, path) for path in own})
    return outcome


def ended_by(outcome: CommandOutcome) -> tuple[str, ...]:
    """Limits that ended the command; long output is only cut."""
    return tuple(limit for limit in outcome.limited if limit not in ("output", "file size"))


def told_changes(outcome: CommandOutcome) -> str:
    """The files that a command changed, and what was not taken over."""
    said = []
    changes = [change for change in outcome.changes if not is_internal(change.path)]
    if changes:
        named = ", ".join(f"{change.path} ({change.change})" for change in changes[:_NAMED_FILES])
        more = f" and {len(changes) - _NAMED_FILES:,} more" if len(changes) > _NAMED_FILES else ""
        said.append(f"It changed {plural(len(changes), 'file')}: {named}{more}.")
    if len(changes) < len(outcome.changes):
        said.append(f"Its changes below {FORGE}/ were dropped: those are Forge's own records.")
    said += [f"Note: {note}." for note in outcome.notes[:10]]
    return "\n".join(said)


def told(outcome: CommandOutcome) -> str:
    """Exit code, the end of the output, changed files."""
    output = tail(outcome.output, _OUTPUT_BYTES) or "(no output)"
    limits = f" (reached the limit of {', '.join(outcome.limited)})" if outcome.limited else ""
    return "\n".join(filter(None, [f"Exit code {outcome.exit_code}{limits}.", output, told_changes(outcome)]))


def _cut_off(outcome: CommandOutcome, seconds: float) -> str:
    why = f"after {seconds:.0f} s" if outcome.timed_out else f"by the limit of {', '.join(ended_by(outcome))}"
    return f"The command was ended {why}; nothing it changed was kept. Its last output:\n" + (
        tail(outcome.output, _OUTPUT_BYTES) or "(none)"
    )
