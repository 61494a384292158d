"""`forge user`: users of a server that several people share: added, listed, disabled."""

from __future__ import annotations

import os
import shlex
from typing import Annotated

import typer

from forge.cli.terminal.output import ago
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.project_output import settings_of
from forge.cli.terminal.session import Session

app = Commands(__doc__, group=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of the user, or the id.")]


@app.add("add")
def add(context: typer.Context, name: Annotated[str, typer.Argument(metavar="NAME", help="A free name.")]) -> None:
    """Add a user. To get in, they need a key: `forge key new NAME`."""
    from forge.app.access.identity import LOCAL  # noqa: PLC0415 - loads the database, which takes a moment
    from forge.app.access.local_access import opened_access  # noqa: PLC0415
    from forge.app.access.users import add_user  # noqa: PLC0415

    session: Session = context.obj
    out = session.output
    with opened_access(settings_of(out), os.environ) as access:
        user = add_user(access, LOCAL, name)
    out.result(user)
    out.line(f"Added {out.styled(user.name, 'cyan')}.")
    out.aside(f"A key lets them in: `forge key new {shlex.quote(user.name)}`.")


@app.add("list")
def list_all(context: typer.Context) -> None:
    """List the users."""
    from forge.app.access.identity import LOCAL  # noqa: PLC0415
    from forge.app.access.local_access import opened_access  # noqa: PLC0415
    from forge.app.access.users import list_users  # noqa: PLC0415

    session: Session = context.obj
    out = session.output
    with opened_access(settings_of(out), os.environ) as access:
        users = list_users(access, LOCAL)
    out.result(users)
    if not users:
        out.aside("There is no user yet; you yourself need none. `forge user add NAME` adds one.")
    out.table(
        (
            out.styled(user.name, "cyan"),
            out.styled(user.id, "dim"),
            f"added {ago(user.created)}",
            f"disabled {ago(user.disabled)}" if user.disabled is not None else "",
        )
        for user in users
    )


@app.add("disable")
def disable(context: typer.Context, name: Name) -> None:
    """Let a user in no more. All their keys stop working; what is theirs stays."""
    from forge.app.access.identity import LOCAL  # noqa: PLC0415
    from forge.app.access.local_access import opened_access  # noqa: PLC0415
    from forge.app.access.users import disable_user  # noqa: PLC0415

    session: Session = context.obj
    out = session.output
    with opened_access(settings_of(out), os.environ) as access:
        user = disable_user(access, LOCAL, name)
    out.result(user)
    out.line(f"{out.styled(user.name, 'cyan')} is disabled.")
