"""What `forge project` does with a project as a whole: renamed, archived, deleted, its log and what it produced."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forge.cli.terminal.project_output import (
    Which,
    directory_of,
    found,
    opened_here,
    output_of,
    settings_of,
    tell_state,
)

if TYPE_CHECKING:
    from forge.app.projects.view import ProjectView

Named = Annotated[str, typer.Argument(metavar="PROJECT", help="Its directory, id or name.")]


def rename(
    context: typer.Context,
    project: Named,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new name.")],
) -> None:
    """Rename a project. Its directory keeps its name."""
    out = output_of(context)
    seen = asyncio.run(_changed(context, project, name=name))
    out.result(seen)
    out.line(f"{out.styled(Path(seen.directory).name, 'cyan')} is called {seen.name}")


def stop(context: typer.Context, project: Which = None) -> None:
    """Stop the work on a project. It halts; `resume` continues it, optionally with another --agent."""
    out = output_of(context)

    async def act() -> ProjectView:
        async with opened_here(context, project) as opened:
            return await opened.stop()

    seen = asyncio.run(act())
    out.result(seen)
    tell_state(out, seen)


def archive(
    context: typer.Context,
    project: Named,
    back: Annotated[bool, typer.Option("--undo", help="Show it in lists again.")] = False,
) -> None:
    """Hide a project from lists. Nothing else changes."""
    out = output_of(context)
    seen = asyncio.run(_changed(context, project, archived=not back))
    out.result(seen)
    out.line(f"{out.styled(Path(seen.directory).name, 'cyan')} {'is back' if back else 'is archived'}")


async def _changed(
    context: typer.Context, project: str, *, name: str | None = None, archived: bool | None = None
) -> ProjectView:
    async with opened_here(context, project) as opened:
        return await opened.change(name=name, archived=archived)


def delete(
    context: typer.Context,
    project: Named,
    confirm_name: Annotated[
        str, typer.Option("--confirm", metavar="DIRECTORY", help="Repeat the name of its directory.")
    ] = "",
) -> None:
    """Move a project into the folder `deleted` of the workspace."""
    out = output_of(context)

    async def deleted() -> Path:
        async with opened_here(context, project) as opened:
            return await opened.delete(confirm=confirm_name)

    kept = asyncio.run(deleted())
    out.result({"deleted": project, "kept": kept})
    out.line(f"Deleted {project}; it is kept in {kept}")


def log(
    context: typer.Context,
    project: Which = None,
    last: Annotated[int, typer.Option("--last", "-n", metavar="N", min=1, help="How many lines.")] = 40,
) -> None:
    """Show the operational log of a project."""
    out = output_of(context)
    lines = list(found(settings_of(out), project, directory_of(context)).log.lines())[-last:]
    out.result(lines)
    if not lines:
        out.aside("Nothing has been logged yet.")
    for line in lines:
        colour = {"warn": "yellow", "error": "red"}.get(line["level"], "dim")
        stamp = str(line["timestamp"]).replace("T", " ")[:19]
        out.line(f"{out.styled(stamp, 'dim')} {out.styled(line['event'], colour)} {line['phase']}: {line['detail']}")


def artifacts(
    context: typer.Context,
    project: Which = None,
    save: Annotated[str | None, typer.Option("--save", metavar="NAME", help="Copy this document.")] = None,
    to: Annotated[str, typer.Option("--to", metavar="PATH", help="Where to copy it.")] = ".",
) -> None:
    """List the documents of a project, or copy one."""
    from forge.app.projects import catalog  # noqa: PLC0415

    out = output_of(context)
    one = found(settings_of(out), project, directory_of(context))
    if save is not None:
        target = catalog.save_artifact(one, save, directory_of(context) / to)
        out.result({"saved": target})
        out.line(f"Saved {target}")
        return
    places = catalog.artifacts(one)
    out.result([{"name": place.name, "path": place, "bytes": place.stat().st_size} for place in places])
    if not places:
        out.aside("It has produced nothing yet: `forge project status` shows its state.")
    out.table((out.styled(place.name, "cyan"), f"{place.stat().st_size:,} B", str(place)) for place in places)
