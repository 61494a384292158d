"""`forge undo`: take back what Forge did last to branches. Nothing is lost by it: undone tips stay reachable."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.app.repositories import operations as done
from forge.app.repositories.catalog import Repository
from forge.app.repositories.operations import Actor, ActorKind, Operation, RefMove
from forge.cli.terminal.options import opened, short, tell_checkouts
from forge.cli.terminal.output import Output, ago
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import BadUsage, Exit, exit_code
from forge.errors import ForgeError

app = Commands(__doc__)

_LISTED = 20


@app.add()
def undo(
    context: typer.Context,
    operation: Annotated[str | None, typer.Argument(help="The id of an operation. Default: the last one.")] = None,
    show: Annotated[bool, typer.Option("--list", help="Only show the last operations.")] = False,
    steps: Annotated[
        int | None,
        typer.Option(
            "--steps",
            metavar="N",
            min=1,
            max=1000,
            help="How many operations to undo (default 1) or to list (default 20).",
        ),
    ] = None,
) -> int:
    """Undo the last operation, several, or one by its id."""
    if operation is not None and (show or steps is not None):
        raise BadUsage("An operation by its id is taken back alone.", hint="Leave out --list and --steps.")
    repo, out = opened(context)
    if show:
        _shown(out, done.newest(repo, steps or _LISTED))
        return Exit.OK
    return _taken_back(repo, out, operation, steps or 1)


def _taken_back(repo: Repository, out: Output, operation: str | None, steps: int) -> int:
    undone: list[Operation] = []
    try:
        for _ in range(steps):
            undone.append(done.undo(repo, operation))
            out.line(out.styled(f"Took back: {undone[-1].reason.removeprefix('undo: ')}"))
            tell_checkouts(out, undone[-1])
    except ForgeError as e:
        if not undone:
            raise
        out.error(e, operations=undone)
        return exit_code(e)
    out.result({"operations": undone})
    return Exit.OK


def _shown(out: Output, operations: list[Operation]) -> None:
    out.result(operations)
    if not operations:
        out.aside("Forge has moved nothing here yet.")
    out.table(
        (
            out.styled(operation.id, "dim"),
            ago(operation.time),
            out.styled(_who(operation.actor)),
            out.styled(operation.reason, "bold"),
            out.styled(", ".join(_move(move) for move in operation.moves if not move.ref.startswith("refs/forge/"))),
        )
        for operation in operations
    )


def _who(actor: Actor) -> str:
    return actor.name if actor.kind in (ActorKind.PERSON, ActorKind.EXTERNAL) else f"{actor.kind} {actor.name}"


def _move(move: RefMove) -> str:
    before, after = (short(commit) if commit else "∅" for commit in (move.before, move.after))
    return f"{move.ref.removeprefix('refs/heads/')} {before}→{after}"
