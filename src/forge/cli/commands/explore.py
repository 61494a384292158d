"""`forge explore`: find out what the problem is and whether a solution deserves to be built, before you build it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forge.cli.terminal.open_project import OpenProject, opened_project
from forge.cli.terminal.output import Output
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.project_output import Teller, directory_of, found, output_of, settings_of
from forge.cli.terminal.session import BadUsage
from forge.counts import counted
from forge.events import ProjectSaid

if TYPE_CHECKING:
    from forge.app.projects.catalog import Project
    from forge.app.projects.exploration import Exploration

app = Commands(__doc__)


@app.add()
def explore(
    context: typer.Context,
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[status|assumptions|map|brief|next] [PROJECT]",
            help="What to show, then the project; without it, the conversation.",
        ),
    ] = None,
    which: Annotated[str | None, typer.Argument(metavar="", hidden=True)] = None,
    message: Annotated[
        str | None, typer.Option("--message", "-m", metavar="TEXT", help="What you say; - reads standard input.")
    ] = None,
    brain_dump: Annotated[
        bool, typer.Option("--brain-dump", help="Make the exploration the brain dump of the project.")
    ] = False,
    save: Annotated[
        Path | None,
        typer.Option(
            "--save",
            metavar="FILE",
            help="Save a brief (problem_brief.md, .docx, .pdf), assumptions.csv, assumptions.md, matrix.svg, tree.svg "
            "or dependencies.svg.",
        ),
    ] = None,
    about: Annotated[
        str | None,
        typer.Option("--about", metavar="KIND", help="What your first message is: `background` or `problem`."),
    ] = None,
) -> None:
    """Explore a problem: say something and get questions back, or show what is known."""
    out = output_of(context)
    view, project = (what, which) if what in _VIEWS else (None, what)
    if view is None and which is not None:
        raise BadUsage(f"`{what}` cannot be shown; use one of {', '.join(_VIEWS)}.")
    if view is not None and message is not None:
        raise BadUsage("Give either a message or something to show, not both.")
    if about not in (None, "background", "problem"):
        raise BadUsage("`--about` is `background` or `problem`.")
    if save is not None:
        if view is not None or message is not None:
            raise BadUsage("Give `--save` without a message and without something to show.")
        asyncio.run(_save(context, out, project, save))
        return
    text = sys.stdin.read() if message == "-" else message
    asyncio.run(_explore(context, out, view, project, text, about, brain_dump))


async def _explore(
    context: typer.Context,
    out: Output,
    view: str | None,
    which: str | None,
    text: str | None,
    about: Any,
    brain_dump: bool,
) -> None:
    from forge.app.projects.exploration import shown  # noqa: PLC0415 - loads the engine

    settings = settings_of(out)
    project = found(settings, which, directory_of(context))
    if (view is None and (text is not None or about is not None)) or brain_dump:
        async with opened_project(context.obj, settings, project) as opened:
            if view is None and (text is not None or about is not None):
                await _say(opened, out, text, about)
            if brain_dump:
                await opened.hand_over_exploration()
    seen = await asyncio.to_thread(shown, settings, project)
    if view is not None:
        _VIEWS[view](out, seen, project)
        return
    answer = next((each for each in reversed(project.chat()) if each.role == "ai"), None)
    out.result({"answer": answer.content if answer else "", "exploration": seen})
    if answer:
        out.line(answer.content)
        out.line()
    out.aside(f"{seen.mode_title} · {seen.next}")


async def _save(context: typer.Context, out: Output, which: str | None, to: Path) -> None:
    from forge.app.projects.exploration_export import exported  # noqa: PLC0415

    settings = settings_of(out)
    project = found(settings, which, directory_of(context))
    made = await asyncio.to_thread(exported, settings, project, to.name)
    try:
        with to.open("xb") as file:
            file.write(made.data)
    except FileExistsError:
        raise BadUsage(f"{to} exists already; nothing was written.") from None
    except OSError as e:
        raise BadUsage(f"{to} cannot be written: {e.strerror}.") from None
    out.result({"file": str(to), "bytes_size": len(made.data)})
    out.line(f"Saved {to}.")


async def _say(opened: OpenProject, out: Output, text: str | None, about: Any) -> None:
    done = await opened.explore(text, about=about)
    async with Teller(out) as teller:
        async for event in opened.follow(done):
            if not isinstance(event, ProjectSaid):  # the answer is printed whole, once
                teller(event)


def _status(out: Output, seen: Exploration, project: Project) -> None:
    del project
    out.result(seen)
    out.line(f"{out.styled(seen.mode_title, 'bold')}, turn {seen.turn}")
    out.line(f"Problem: {seen.problem or 'not stated yet'}")
    if seen.solution:
        out.line(f"Solution: {seen.solution['name']}")
    out.line(f"{counted(len(seen.assumptions), 'assumption')}, {counted(len(seen.stakeholders), 'stakeholder')}")
    for mode in seen.modes:
        done = sum(probe["state"] == "done" for probe in mode["probes"])
        if done or mode["name"] == seen.mode:
            probes = counted(len(mode["probes"]), "probe")
            out.line(f"  {mode['title']}: {done} of {probes}{' ✓' if mode['completed'] else ''}")
    for text in seen.flags:
        out.line(out.styled(text, "yellow"))
    out.aside(seen.next)


def _assumptions(out: Output, seen: Exploration, project: Project) -> None:
    del project
    out.result({"assumptions": seen.assumptions, "risk_line": seen.risk_line})
    if not seen.assumptions:
        out.aside("No assumption is registered yet.")
    out.table(
        (
            out.styled(each["id"], "cyan"),
            f"{each['risk']:.2f}{'!' if each['above_line'] and each['status'] != 'invalidated' else ''}",
            each["impact"],
            each["confidence"],
            each["status"].replace("_", " "),
            each["claim"],
            f"rests on {', '.join(each['depends_on'])}" if each["depends_on"] else "",
        )
        for each in seen.assumptions
    )


def _map(out: Output, seen: Exploration, project: Project) -> None:
    del project
    out.result({"stakeholders": seen.stakeholders, "broken_paths": seen.broken_paths, "assumptions": seen.assumptions})
    out.table((out.styled(each["name"], "cyan"), each["role"].replace("_", " ")) for each in seen.stakeholders)
    by_id = {each["id"]: each for each in seen.assumptions}
    told: set[str] = set()
    for root in (each for each in seen.assumptions if not each["depends_on"]):
        _branch(out, root, by_id, 0, told)


def _branch(
    out: Output, each: Mapping[str, Any], by_id: Mapping[str, Mapping[str, Any]], depth: int, told: set[str]
) -> None:
    broken = each["status"] in ("invalidated", "at_risk")
    line = f"{each['id']} {each['claim']} ({each['status'].replace('_', ' ')})"
    out.line("  " * depth + (out.styled(line, "red") if broken else line))
    if each["id"] in told:
        return
    told.add(each["id"])
    for other in by_id.values():
        if each["id"] in other["depends_on"]:
            _branch(out, other, by_id, depth + 1, told)


def _brief(out: Output, seen: Exploration, project: Project) -> None:
    from forge.app.projects.exploration import briefs_of  # noqa: PLC0415

    texts = briefs_of(project)
    out.result({"artifacts": texts})
    if not texts:
        out.aside(f"There is no brief yet. {seen.next}")
    for text in texts.values():
        out.line(text)


def _next(out: Output, seen: Exploration, project: Project) -> None:
    del project
    out.result({"next": seen.next, "mode": seen.mode, "proposal": seen.proposal, "questions": seen.questions})
    out.line(seen.next)


_VIEWS: Mapping[str, Callable[[Output, Exploration, Project], None]] = {
    "status": _status,
    "assumptions": _assumptions,
    "map": _map,
    "brief": _brief,
    "next": _next,
}
