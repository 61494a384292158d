"""`forge demo`: a small code project from brain dump to finished branch, with recorded answers."""

from __future__ import annotations

import asyncio
import os
import shlex
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forge.cli.output import Output
from forge.cli.parser import Commands
from forge.cli.projecting import Teller
from forge.cli.running import Session

if TYPE_CHECKING:
    from forge.app.demo import Shown
    from forge.settings import Settings

app = Commands(__doc__)
_WIDTH = 100
_ABOUT = (
    "A brain dump becomes a tested branch. The model's answers are recorded; the rest is real: the repository, the "
    "branch and its commits, the tests in the sandbox, and the guards that decide when it is good enough."
)
_TRY = "printf 'people: Ana, Ben, Cleo\\nAna 10.00 taxi\\n'"


@app.add()
def demo(
    context: typer.Context,
    place: Annotated[
        str | None, typer.Option("--dir", metavar="DIR", help="Keep everything there instead of in your workspace.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh/--keep", help="Move earlier demos into the folder `deleted` first, or keep them.")
    ] = False,
) -> None:
    """Watch a small program being specified, built, tested, reviewed and mended. No model and no key is needed."""
    session: Session = context.obj
    where = (session.directory / place).absolute() if place is not None else None
    asyncio.run(_demo(session.output, where, fresh=fresh))


async def _demo(out: Output, place: Path | None, *, fresh: bool) -> None:
    from forge.app.demo import begin, brain_dump, clear_away, demo_settings, show  # noqa: PLC0415 - loads the engine
    from forge.app.workshop import open_workshop  # noqa: PLC0415

    began = time.monotonic()
    settings = demo_settings(os.environ, place)
    _tell_beginning(out, brain_dump())
    async with open_workshop(settings, os.environ) as shop:
        for moved in clear_away(shop) if fresh else ():
            out.line(f"An earlier demo is in {moved} now.")
        project = await begin(shop)
        out.line(f"Project {out.styled(project.directory.name, 'cyan')} in {project.directory}")
        shown = await show(shop, project, hear=Teller(out), began=began)
    out.result(shown.outcome)
    _tell_end(out, shown)
    out.line()
    out.line(out.styled("Look at next", "bold"))
    for command, about in next_commands(shown, settings if place is not None else None):
        out.line(f"  {out.styled(f'# {about}', 'dim')}")
        out.line(f"  {command}")


def _tell_beginning(out: Output, text: str) -> None:
    for line in textwrap.wrap(_ABOUT, _WIDTH):
        out.line(line)
    out.line()
    out.line("It begins with this, and two more paragraphs:")
    for line in textwrap.wrap(text.partition("\n\n")[0], _WIDTH - 4):
        out.line(out.styled(f"  │ {line}", "dim"))
    out.line()


def _tell_end(out: Output, shown: Shown) -> None:
    done = shown.outcome
    tests = done.tests or {}
    out.line()
    ended = f"{done.phase} after {len(done.rounds)} rounds, with {tests.get('passed')} tests, in {done.seconds:.1f} s"
    out.line(f"{out.styled(shown.name, 'bold')}: {out.styled(ended, 'green')}")
    out.line()
    out.line(f"Branch {out.styled(str(done.branch), 'cyan')} of {done.repository}")
    out.table((f"  {commit['id'][:10]}", commit["subject"]) for commit in done.commits)
    out.line()
    head = ("Round", "critical", "medium", "minor", "tests", "guard")
    out.table([tuple(out.styled(title, "bold") for title in head), *(_row(entry) for entry in done.rounds)])
    out.line()
    for line in textwrap.wrap(_tested(shown), _WIDTH):
        out.line(line)


def _row(entry: dict[str, object]) -> tuple[str, ...]:
    tests, verdict = entry["tests"], entry["verdict"]
    assert isinstance(tests, dict)
    assert isinstance(verdict, dict)
    judged = "goes on" if verdict["outcome"] == "continue" else f"{verdict['guard']}: {verdict['outcome']}"
    counts = tuple(str(entry[name]) for name in ("iteration", "critical", "medium", "minor"))
    return (*counts, f"{tests['passed']} of {tests['total']}", judged)


def _tested(shown: Shown) -> str:
    runs = shown.test_runs
    failed = [run for run in runs if run["failed"]]
    red = "".join(f" Once {run['failed']} of {run['total']} failed, and the agent mended the code." for run in failed)
    return f"The tests ran {len(runs)} times in the sandbox, from {runs[0]['total']} tests to {runs[-1]['total']}.{red}"


def next_commands(shown: Shown, own: Settings | None) -> list[tuple[str, str]]:
    """Commands to paste, each with what it shows. `own` are the settings of a demo that is kept in its own place."""
    done = shown.outcome
    code = f"forge -C {shlex.quote(str(done.repository))}"
    branch = shlex.quote(str(done.branch))
    name = shlex.quote(Path(done.directory).name)
    with_place = ""
    if own is not None:
        places = {"FORGE_WORKSPACE": own.workspace, "FORGE_DATA": own.data_dir}
        with_place = "".join(f"{key}={shlex.quote(str(value))} " for key, value in places.items())
    mended = str(done.commits[1 - len(done.rounds)]["id"])
    return [
        (f"{_TRY} | {code} exec -b {branch} -i -- python3 -m tripsplit --balances /dev/stdin", "run what was built"),
        (f"{code} diff {mended[:10]} --path tripsplit", "what the first review changed: no cent is lost any more"),
        (f"{code} session show -b {branch} -n 2", "what the reviews found, and what the agent said to it"),
        (f"{with_place}forge project open {name}", "the conversation about the project"),
        (f"{with_place}forge board", "all projects by phase"),
    ]
