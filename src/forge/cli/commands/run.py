"""`forge run`: the whole way in one: from a file with an idea to the deliverable."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Annotated

import typer

from forge.cli.terminal.parser import Commands
from forge.cli.terminal.project_output import Agent, Teller, Type, exit_of, settings_of, tell_state
from forge.cli.terminal.session import BadUsage, Session
from forge.errors import InvalidInput, NotFound

app = Commands(__doc__)


@app.add()
def run(
    context: typer.Context,
    idea: Annotated[
        str, typer.Argument(metavar="IDEA_FILE", help="A text file with your idea; - reads standard input.")
    ],
    kind: Type = None,
    repository: Annotated[
        str | None, typer.Option("--repo", metavar="DIR", help="The repository to build code in, on its own branch.")
    ] = None,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="What you call it.")] = None,
    agent: Agent = None,
    auto_confirm: Annotated[
        bool,
        typer.Option("--auto-confirm", help="Confirm intent and specification, and let Forge answer open questions."),
    ] = False,
    files: Annotated[
        list[str] | None, typer.Option("--file", "-f", metavar="FILE", help="A file to add to resources/.")
    ] = None,
) -> int:
    """Run a project from an idea to your first decision, or to the end with --auto-confirm."""
    session: Session = context.obj
    text = _idea(idea, session.directory)
    place = session.directory / repository if repository else None
    added = tuple(session.directory / file for file in files or ())
    return asyncio.run(_run(session, text, name, place, agent, kind, added, auto_confirm=auto_confirm))


def _idea(idea: str, directory: Path) -> str:
    if idea == "-":
        import sys  # noqa: PLC0415

        return sys.stdin.read()
    try:
        return (directory / idea).read_text(encoding="utf-8")
    except (FileNotFoundError, IsADirectoryError) as e:
        raise NotFound(f"There is no file {idea}.", hint="Write your idea into a text file.") from e
    except UnicodeDecodeError as e:
        raise BadUsage(f"{idea} is not UTF-8 text.", hint="Put other material in with --file.") from e
    except OSError as e:
        raise InvalidInput(f"{idea} cannot be read: {e.strerror}.", hint="Name a text file that you may read.") from e


async def _run(
    session: Session,
    text: str,
    name: str | None,
    repository: Path | None,
    agent: str | None,
    kind: str | None,
    files: tuple[Path, ...],
    *,
    auto_confirm: bool,
) -> int:
    from forge.app.projects.autopilot import carry_on, outcome  # noqa: PLC0415 - loads the engine
    from forge.app.projects.messages import check_idea  # noqa: PLC0415
    from forge.cli.terminal.open_project import WantedProject, created_project  # noqa: PLC0415

    began = time.monotonic()
    out = session.output
    settings = settings_of(out)
    check_idea(settings, text)
    wanted = WantedProject(name, agent, repository, deliverable_type=kind)
    async with created_project(session, settings, wanted) as opened:
        directory = opened.project.directory
        out.line(f"Project {out.styled(directory.name, 'cyan')} in {directory}")
        for file in files:
            await opened.add_resource(file)
        await opened.say(text, about="problem")
        async with Teller(out) as teller:
            seen = await carry_on(opened, auto_confirm=auto_confirm, hear=teller)
    out.result(outcome(seen, began))
    out.line()
    tell_state(out, seen)
    return exit_of(seen)
