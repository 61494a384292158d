"""`forge demo`: a small code project from brain dump to finished branch, with recorded answers."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import textwrap
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from forge.cli.terminal.output import Output
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.program_name import called
from forge.cli.terminal.project_output import Teller
from forge.cli.terminal.session import BadUsage, Session
from forge.counts import counted

if TYPE_CHECKING:
    from forge.app.demo import Shown
    from forge.settings import Settings

app = Commands(__doc__)
_WIDTH = 100
_ABOUT = (
    "A brain dump becomes a tested branch. The model's answers are recorded; the rest is real: the repository, the "
    "branch and its commits, the tests{where}, and the guards that decide when it is good enough."
)
_UNCONFINED = (
    "There is no sandbox here, because {reason}: the demo's own tests run as you, with your files in reach. What "
    "agents write is never run that way, so install bubblewrap before they work for you."
)
_TRY = "printf 'people: Ana, Ben, Cleo\\nAna 10.00 taxi\\n'"


@app.add()
def demo(
    context: typer.Context,
    place: Annotated[
        str | None, typer.Option("--dir", metavar="DIR", help="Store everything in DIR instead of your workspace.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh/--keep", help="Move earlier demos into the folder `deleted` first, or keep them.")
    ] = False,
    open_: Annotated[
        bool,
        typer.Option(
            "--open", help="Start the server afterwards and open the project in the browser; Ctrl-C stops it."
        ),
    ] = False,
) -> None:
    """Run a demo: Forge specifies, builds, tests, reviews and fixes a small program. Needs no model and no key."""
    session: Session = context.obj
    out = session.output
    if open_ and out.json:
        hint = "Leave --open out; `forge serve --json --project NAME` shows it afterwards."
        raise BadUsage("A server that is opened gives a second document.", hint=hint)
    where = (session.directory / place).absolute() if place is not None else None
    ran = asyncio.run(_demo(out, where, fresh=fresh))
    out.result(ran.shown.outcome)
    _tell_end(out, ran)
    if open_:
        _serve(out, ran)
    _tell_next(out, ran)


@dataclass(frozen=True, slots=True)
class _Ran:
    shown: Shown
    places: Mapping[str, str]
    """Variables by which other commands find it; none where it is in the usual places."""
    confined: bool

    @property
    def name(self) -> str:
        return Path(self.shown.outcome.directory).name

    @property
    def forge(self) -> str:
        """How a command on the same places begins, in a shell."""
        return "".join(f"{name}={shlex.quote(value)} " for name, value in self.places.items()) + called()


async def _demo(out: Output, place: Path | None, *, fresh: bool) -> _Ran:
    from forge.app import demo  # noqa: PLC0415 - loads the engine
    from forge.app.demo_recording import AGENT  # noqa: PLC0415
    from forge.app.process.workshop import open_workshop  # noqa: PLC0415

    began = time.monotonic()
    settings = demo.demo_settings(os.environ, place)
    unconfined = demo.without_sandbox()
    _tell_beginning(out, demo.brain_dump(), unconfined)
    async with open_workshop(settings, os.environ, unconfined=AGENT) as shop:
        for moved in demo.clear_away(shop) if fresh else ():
            out.line(f"An earlier demo is in {moved} now.")
        project = await demo.begin(shop)
        out.line(f"Project {out.styled(project.directory.name, 'cyan')} in {project.directory}")
        async with Teller(out) as teller:
            shown = await demo.show(shop, project, hear=teller, began=began)
    return _Ran(shown, _places(settings) if place is not None else {}, confined=not unconfined)


def _serve(out: Output, ran: _Ran) -> None:
    """By a program of its own: a server divides itself, which a process that has worked cannot."""
    out.line()
    out.flush()
    words = [sys.executable, "-P", "-m", "forge.cli.main", "serve", "--open", "--project", ran.name]
    os.execve(sys.executable, words, {**os.environ, **ran.places})  # noqa: S606 - there is no shell to want


def _places(settings: Settings) -> dict[str, str]:
    return {"FORGE_WORKSPACE": str(settings.workspace), "FORGE_DATA": str(settings.data_dir)}


def _tell_beginning(out: Output, text: str, unconfined: str) -> None:
    about = [_ABOUT.format(where="" if unconfined else " in the sandbox")]
    for paragraph in [*about, _UNCONFINED.format(reason=unconfined)] if unconfined else about:
        for line in textwrap.wrap(paragraph, _WIDTH):
            out.line(line)
        out.line()
    out.line("It begins with this, and two more paragraphs:")
    for line in textwrap.wrap(text.partition("\n\n")[0], _WIDTH - 4):
        out.line(out.styled(f"  │ {line}", "dim"))
    out.line()


def _tell_end(out: Output, ran: _Ran) -> None:
    shown, done = ran.shown, ran.shown.outcome
    tests = done.tests or {}
    out.line()
    rounds = counted(len(done.rounds), "round")
    ended = f"{done.phase} after {rounds}, with {counted(tests.get('passed') or 0, 'test')}, in {done.seconds:.1f} s"
    out.line(f"{out.styled(shown.name, 'bold')}: {out.styled(ended, 'green')}")
    out.line()
    out.line(f"Branch {out.styled(str(done.branch), 'cyan')} of {done.repository}")
    out.table((f"  {commit['id'][:10]}", commit["subject"]) for commit in done.commits)
    out.line()
    head = ("Round", "critical", "medium", "minor", "tests", "guard")
    out.table([tuple(out.styled(title, "bold") for title in head), *(_row(entry) for entry in done.rounds)])
    out.line()
    for line in textwrap.wrap(_tested(shown, confined=ran.confined), _WIDTH):
        out.line(line)


def _row(entry: dict[str, object]) -> tuple[str, ...]:
    tests, verdict = entry["tests"], entry["verdict"]
    assert isinstance(tests, dict)
    assert isinstance(verdict, dict)
    judged = "continues" if verdict["outcome"] == "continue" else f"{verdict['guard']}: {verdict['outcome']}"
    counts = tuple(str(entry[name]) for name in ("iteration", "critical", "medium", "minor"))
    return (*counts, f"{tests['passed']} of {tests['total']}", judged)


def _tested(shown: Shown, *, confined: bool) -> str:
    runs = shown.test_runs
    failed = [run for run in runs if run["failed"]]
    red = "".join(f" Once {run['failed']} of {run['total']} failed, and the agent fixed the code." for run in failed)
    where = "in the sandbox" if confined else "without a sandbox"
    times = counted(len(runs), "time")
    return f"The tests ran {times} {where}, from {counted(runs[0]['total'], 'test')} to {runs[-1]['total']}.{red}"


def _tell_next(out: Output, ran: _Ran) -> None:
    out.line()
    out.line(out.styled("See it in the browser", "bold"))
    out.line(f"  {ran.forge} serve --open --project {shlex.quote(ran.name)}")
    out.line()
    out.line(out.styled("Look at next", "bold"))
    for command, about in _next_commands(ran):
        out.line(f"  {out.styled(f'# {about}', 'dim')}")
        out.line(f"  {command}")


def _next_commands(ran: _Ran) -> list[tuple[str, str]]:
    """Commands to paste, each with what it shows."""
    done = ran.shown.outcome
    code = f"{called()} -C {shlex.quote(str(done.repository))}"
    branch = shlex.quote(str(done.branch))
    mended = str(done.commits[1 - len(done.rounds)]["id"])
    run = f"{code} exec -b {branch} -i{'' if ran.confined else ' --allow-plain'} -- python3 -m tripsplit"
    return [
        (f"{_TRY} | {run} --balances /dev/stdin", "run what was built"),
        (f"{code} diff {mended[:10]} --path tripsplit", "what the first review changed: no cent is lost any more"),
        (f"{code} session show -b {branch} -n 2", "what the reviews found, and what the agent said to it"),
        (f"{ran.forge} project show --earlier {shlex.quote(ran.name)}", "the conversation about the project"),
        (f"{ran.forge} board", "all projects by phase"),
    ]
