"""`forge key`: forge-keys, which let programs and other people in: made, listed, revoked."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Annotated

import typer

from forge.cli.terminal.output import ago
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.project_output import settings_of
from forge.cli.terminal.session import Session
from forge.counts import counted

if TYPE_CHECKING:
    from forge.app.access.users import Key

app = Commands(__doc__, group=True)

Scopes = Annotated[
    list[str] | None,
    typer.Option("--scope", metavar="SCOPE", help="read, write, run or admin; the first three if left out."),
]


@app.add("new")
def new(
    context: typer.Context,
    user: Annotated[str, typer.Argument(metavar="USER", help="Whose key it is: a name or an id.")],
    name: Annotated[str | None, typer.Option("--name", metavar="TEXT", help="What it is for.")] = None,
    scope: Scopes = None,
    days: Annotated[
        float | None, typer.Option("--days", metavar="N", help="For how long; for good if left out.")
    ] = None,
    project: Annotated[
        str | None, typer.Option("--project", metavar="PROJECT", help="Open this project and its repository alone.")
    ] = None,
) -> None:
    """Make a key and show it, this once. Only a hash of it is kept."""
    from forge.app.access.identity import LOCAL  # noqa: PLC0415 - loads the database, which takes a moment
    from forge.app.access.local_access import opened_access  # noqa: PLC0415
    from forge.app.access.users import USUAL_SCOPES, new_key  # noqa: PLC0415

    session: Session = context.obj
    out = session.output
    settings = settings_of(out)
    reach = None
    if project is not None:
        from forge.app.projects.repository_rights import key_reach  # noqa: PLC0415
        from forge.app.projects.resolve import project_meant  # noqa: PLC0415

        reach = key_reach(project_meant(settings, project, session.directory))
    with opened_access(settings, os.environ) as access:
        scopes = frozenset(scope) if scope else USUAL_SCOPES
        made = new_key(access, LOCAL, access.secret, user, name=name or "", scopes=scopes, days=days, reach=reach)
    out.result({"text": made.text, **_document(made.key)})
    out.line(made.text)
    out.aside("Keep it safe: it is not shown again. Programs send it as `Authorization: Bearer fk_…`.")


@app.add("list")
def list_all(
    context: typer.Context,
    user: Annotated[str | None, typer.Argument(metavar="USER", help="Only the keys of this user.")] = None,
) -> None:
    """List keys: whose, for what, since when, when they were used last."""
    from forge.app.access.identity import LOCAL  # noqa: PLC0415
    from forge.app.access.local_access import opened_access  # noqa: PLC0415
    from forge.app.access.users import list_keys  # noqa: PLC0415

    session: Session = context.obj
    out = session.output
    with opened_access(settings_of(out), os.environ) as access:
        keys = list_keys(access, LOCAL, user)
    out.result([_document(key) for key in keys])
    if not keys:
        out.aside("There is no key yet: `forge key new USER` makes one.")
    out.table(
        (
            out.styled(key.id, "yellow"),
            out.styled(f"{key.prefix}…", "dim"),
            out.styled(key.user_name, "cyan"),
            " ".join(key.scopes) + (f" in {key.project}" if key.project else ""),
            _state(key),
            "never used" if key.last_used is None else f"used {ago(key.last_used)}",
            out.styled(key.name),
        )
        for key in keys
    )


@app.add("revoke")
def revoke(
    context: typer.Context, key: Annotated[str, typer.Argument(metavar="KEY", help="Its id, as in the list.")]
) -> None:
    """Make a key worthless. A server that runs knows within a second."""
    from forge.app.access.identity import LOCAL  # noqa: PLC0415
    from forge.app.access.local_access import opened_access  # noqa: PLC0415
    from forge.app.access.users import revoke_key  # noqa: PLC0415

    session: Session = context.obj
    out = session.output
    with opened_access(settings_of(out), os.environ) as access:
        revoked = revoke_key(access, LOCAL, key)
    out.result(_document(revoked))
    out.line(f"{out.styled(revoked.id, 'yellow')} of {out.styled(revoked.user_name, 'cyan')} opens nothing any more.")


def _state(key: Key) -> str:
    now = time.time()
    if key.revoked is not None:
        return "revoked"
    if key.user_disabled is not None:
        return "user disabled"
    if key.expires is None:
        return "for good"
    left = key.expires - now
    return "expired" if left <= 0 else f"{counted(round(left / 86_400), 'day')} left"


def _document(key: Key) -> dict[str, object]:
    told = {
        "id": key.id,
        "user": key.user_name,
        "name": key.name,
        "prefix": key.prefix,
        "scopes": key.scopes,
        "project": key.project,
    }
    times = {"created": key.created, "expires": key.expires, "last_used": key.last_used, "revoked": key.revoked}
    return {**told, **times, "opens": key.opens(time.time())}
