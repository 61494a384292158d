"""Options that many commands share, and what they open."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.cli.output import Output
from forge.cli.running import Session
from forge.errors import InvalidInput
from forge.git import PERSON, Actor, ActorKind, Operation, Repository

Agent = Annotated[
    str | None,
    typer.Option("--agent", metavar="NAME", help="Act as this agent, which may not change the default branch."),
]
Message = Annotated[str | None, typer.Option("--message", "-m", help="The commit message.", show_default=False)]


def commands(about: str | None, *, group: bool = False) -> typer.Typer:
    """The parser of one command, or of a group of them."""
    return typer.Typer(
        help=about,
        no_args_is_help=group,
        rich_markup_mode=None,
        add_completion=False,
        epilog="Everywhere: -C DIR works on the repository at DIR; --json prints one JSON document.",
    )


def opened(context: typer.Context) -> tuple[Repository, Output]:
    """The repository to work on and where to show the result."""
    session: Session = context.obj
    return Repository.open(session.directory), session.output


def acting(agent: str | None) -> Actor:
    return Actor(ActorKind.AGENT, agent) if agent else PERSON


def branch_or_current(repo: Repository, branch: str | None) -> str:
    """The branch named, else the one that the checkout shows."""
    current = branch or repo.current_branch
    if current is None:
        raise InvalidInput("HEAD is not on a branch.", hint="Name one with --branch.")
    return current


def short(commit: str) -> str:
    return commit[:7]


def tell_checkouts(out: Output, operation: Operation | None) -> None:
    """Say what became of the person's own checkouts of a branch that moved."""
    for update in operation.checkouts if operation else ():
        if update.state == "updated":
            out.line(f"Your checkout {out.styled(str(update.worktree))} follows.")
        else:
            out.note(f"Your checkout {update.worktree} was left alone: {update.reason}")
