"""`forge undo`: take back what Forge did last to branches. Nothing is lost by it: undone tips stay reachable."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from forge.cli.options import commands, opened, short
from forge.cli.output import Output, ago
from forge.git import Actor, ActorKind, Operation, RefMove

app = commands(__doc__)


@app.command()
def undo(
    context: typer.Context,
    operation: Annotated[str | None, typer.Argument(help="An operation of the list; the last one if left out.")] = None,
    show: Annotated[bool, typer.Option("--list", help="Only show the last operations.")] = False,
    steps: Annotated[int, typer.Option(min=1, max=1000, help="How many operations to take back or show.")] = 1,
) -> None:
    """Take back the last operation, the last few, or one by its id."""
    repo, out = opened(context)
    if show:
        _shown(out, list(islice(repo.operations(), max(steps, 20))))
        return
    undone = [repo.undo(operation)] if operation else [repo.undo() for _ in range(steps)]
    out.result({"operations": undone})
    for done in undone:
        out.line(out.styled(done.reason[:1].upper() + done.reason[1:]))


def _shown(out: Output, operations: list[Operation]) -> None:
    out.result(operations)
    if not operations:
        out.line("Forge has moved nothing here yet.")
    out.table(
        (
            out.styled(operation.id, "dim"),
            ago(operation.time),
            out.styled(_who(operation.actor)),
            out.styled(operation.reason, "bold"),
            out.styled(", ".join(map(_move, operation.moves))),
        )
        for operation in operations
    )


def _who(actor: Actor) -> str:
    return actor.name if actor.kind in (ActorKind.PERSON, ActorKind.EXTERNAL) else f"{actor.kind} {actor.name}"


def _move(move: RefMove) -> str:
    before, after = (short(commit) if commit else "∅" for commit in (move.before, move.after))
    return f"{move.ref.removeprefix('refs/heads/')} {before}→{after}"
