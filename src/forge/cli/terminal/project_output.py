"""What commands on projects share: opening one, telling what happens to it, and what to do next."""

from __future__ import annotations

import os
import shlex
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from forge.cli.terminal.output import Output, cut
from forge.cli.terminal.progress import Pulse
from forge.cli.terminal.session import Exit, Session
from forge.events import Event, ModelRetryScheduled, ProjectMoved, ProjectProgressed, ProjectSaid, RoundFinished

if TYPE_CHECKING:
    from forge.app.process.workshop import Workshop
    from forge.app.projects.catalog import Project
    from forge.app.projects.view import ProjectView
    from forge.cli.terminal.open_project import OpenProject
    from forge.settings import Settings

Agent = Annotated[
    str | None,
    typer.Option("--agent", metavar="NAME", help="A model, an agent program or `builtin`; `forge models` lists them."),
]
Type = Annotated[
    str | None,
    typer.Option("--type", metavar="TYPE", help="`plan` or `code`."),
]
Which = Annotated[
    str | None,
    typer.Argument(metavar="PROJECT", help="Its directory, id or name. Default: the most recently changed project."),
]
_GUARDS = "guard_"
_UNGUARDED = {"continue": "continues", "halt": "an outline", "done": "done"}


def output_of(context: typer.Context) -> Output:
    session: Session = context.obj
    return session.output


def directory_of(context: typer.Context) -> Path:
    session: Session = context.obj
    return session.directory


def settings_of(out: Output) -> Settings:
    from forge.app.admin.settings import load_settings  # noqa: PLC0415 - loaded when a command runs

    settings = load_settings(None, os.environ)
    for warning in settings.warnings:
        out.note(f"forge: {warning}")
    return settings


@asynccontextmanager
async def opened_shop(session: Session) -> AsyncIterator[Workshop]:
    """For what this process does by itself, also beside a server."""
    from forge.app.process.workshop import open_workshop  # noqa: PLC0415 - loads the engine, which takes a moment

    async with open_workshop(settings_of(session.output), os.environ) as shop:
        yield shop


@asynccontextmanager
async def opened_here(context: typer.Context, which: str | None) -> AsyncIterator[OpenProject]:
    """The project that the person means, opened by whoever works on it."""
    from forge.cli.terminal.open_project import opened_project  # noqa: PLC0415

    known = settings_of(output_of(context))
    one = found(known, which, directory_of(context))
    async with opened_project(context.obj, known, one) as opened:
        yield opened


def found(settings: Settings, which: str | None, directory: Path) -> Project:
    """The project named, else the one that the directory is in, else the one changed last."""
    from forge.app.projects.resolve import project_meant  # noqa: PLC0415

    return project_meant(settings, which, directory)


def told(out: Output, project: Project) -> tuple[str, ...]:
    """Take in what people changed by hand; say what had to be recovered, and what else they should know."""
    from forge.app.projects.resolve import taken_in  # noqa: PLC0415

    sentences = taken_in(project)
    for sentence in sentences:
        out.note(f"forge: {sentence}")
    return sentences


class Teller:
    """Tells events as they come, for people; programs get the result alone. Within `async with`, a long silence too."""

    def __init__(self, out: Output) -> None:
        self._out = out
        self._last = ""
        self._has_said_how = False
        self._pulse = Pulse(out, "working")

    async def __aenter__(self) -> Self:
        await self._pulse.__aenter__()
        return self

    async def __aexit__(self, *told: object) -> None:
        await self._pulse.__aexit__(*told)

    def __call__(self, event: Event) -> None:
        self._pulse.heard(event)
        out = self._out
        match event:
            case ProjectMoved(phase=phase, halt_reason=reason):
                if not reason:
                    self._say(out.styled(f"▸ {phase.replace('_', ' ')}", "bold"))
            case ModelRetryScheduled(model=model, text=text, project=project):
                self._say(out.styled(f"  {model}: {text}", "yellow"))
                if not self._has_said_how:
                    self._has_said_how = True
                    for step in ways_out(project):
                        self._say(out.styled(f"    {step}", "dim"))
            case ProjectProgressed(text=text):
                self._say(out.styled(f"  {cut(text, 110)}", "dim"))
            case RoundFinished() as done:
                counts = f"{done.critical} critical, {done.medium} medium, {done.minor} minor"
                verdict = f"{done.guard}: {done.outcome}" if done.guard != "none" else _UNGUARDED[done.outcome]
                self._say(f"  round {done.iteration}: {counts} → {verdict}")
            case ProjectSaid(role="ai", text=text):
                for line in text.splitlines():
                    self._say(f"  {out.styled(line, 'cyan')}" if line.strip() else "")

    def _say(self, line: str) -> None:
        if line != self._last:
            self._out.line(line)
            self._last = line


def tell_state(out: Output, seen: ProjectView) -> None:
    """One paragraph: its state and what can be done."""
    name = os.path.basename(seen.directory)
    out.line(f"{out.styled(seen.name, 'bold')}  {out.styled(seen.label, _colour(seen))}  {out.styled(name, 'dim')}")
    if seen.problem:
        out.text(f"The last run failed: {seen.problem}", indent="  ")
    if seen.trouble:
        out.line(f"  {out.styled(seen.trouble, 'yellow')}")
    if seen.queued:
        out.line(
            f"  It is number {seen.queue_place} in the queue: the limit of parallel builds is reached; others run "
            "or wait for a decision."
        )
    if seen.question and seen.outline is None:
        out.text(f"It waits for you: {seen.question}", indent="  ")
    if seen.stuck:
        tell_stuck(out, seen.stuck)
    if seen.scene_question:
        out.line(f"  {seen.scene_question}   (forge project say {name} --about background, or --about problem)")
    for number, question in enumerate(seen.open_questions, 1):
        out.text(f"{number}. {question}", indent="  ")
    if seen.tests:
        out.text(f"Tests on {str(seen.tests['commit'])[:10]}: {test_words(seen.tests)}", indent="  ")
    if seen.rounds and (reason := not_accepted(seen.rounds[-1])) and seen.phase != "done":
        out.text(f"Round {seen.rounds[-1]['iteration']} is not accepted: {reason}", indent="  ")
    if seen.deliverable:
        out.line(f"  {'Outline' if seen.outline else 'Deliverable'}: {seen.deliverable}")
    if seen.outline and not seen.outline["accepted"]:
        _tell_of_outline(out, seen)
    for line in next_steps(seen, name):
        out.line(f"  → {line}")


def tell_stuck(out: Output, stuck: Mapping[str, Any]) -> None:
    if stuck["tests"]:
        out.text(f"Tests: {', '.join(stuck['tests'])}", indent="    ")
    if stuck["explanation"]:
        out.text(stuck["explanation"], "dim", indent="    ")
    for number, option in enumerate(stuck["options"], 1):
        out.text(f"{number}. {option}", indent="    ")


def test_words(tests: Mapping[str, Any]) -> str:
    from forge.app.projects.project_tests import in_words  # noqa: PLC0415 - loads the engine

    return in_words(tests)


def not_accepted(round_: Mapping[str, Any]) -> str:
    """Why the tests of a round did not satisfy; empty where they did, or there are none."""
    evidence = round_.get("evidence") or {}
    return "" if evidence.get("passes", True) or evidence.get("unproven") else str(evidence.get("reason", ""))


def _tell_of_outline(out: Output, seen: ProjectView) -> None:
    assert seen.outline is not None
    out.line(f"  How it was made: {os.path.join(seen.directory, seen.outline['note'])}")
    out.line("  Connect a model to write it:")
    for each in seen.outline["connect"]:
        out.line(f"    · {each['about']}")


def ways_out(name: str) -> list[str]:
    """While a model has trouble."""
    return [
        f"forge project stop {name}   (it can be resumed)",
        f"forge project resume {name} --agent MODEL   (after the stop: another model; `forge models` lists them)",
    ]


def next_steps(seen: ProjectView, name: str) -> list[str]:
    if seen.problem:
        return [f"forge project resume {name}"]
    if seen.busy and seen.trouble:
        return ways_out(name)
    if seen.busy:
        return [f"forge project resume {name}   (follows the work; continues it if no process does)"]
    if seen.phase == "halted":
        return _ways_on(seen, name)
    told = {
        "distill": f"forge project distill {name}   (or add more: forge project say {name} -m …)",
        "confirm": f"forge project confirm {name}   (or correct it: forge project say {name} -m …)",
        "provide_input": f"forge project provide-input {name} -m …   ({_choose(seen)}--delegate: Forge decides)",
    }
    steps = [told[action] for action in seen.actions if action in told]
    if seen.phase == "spec_building" and seen.open_questions:
        steps = [f"forge project say {name} -m '1: …'   (answers by number; --delegate 2 or all leaves them to Forge)"]
    if seen.phase == "done" and seen.branch:
        there = f"forge -C {shlex.quote(seen.repository or '')}"
        steps = [
            f"{there} log {seen.branch}",
            f"{there} merge {seen.branch} --conversation keep   (or `drop`, to leave the conversation out)",
        ]
    return steps


def _choose(seen: ProjectView) -> str:
    return "--option NUMBER takes an option; " if seen.stuck and seen.stuck["options"] else "or "


def _ways_on(seen: ProjectView, name: str) -> list[str]:
    """Of a halted project: every offer with its command and its line."""
    commands = {
        "resume": f"forge project resume {name} --agent MODEL",
        "provide_input": f"forge project provide-input {name} -m …",
        "override": f"forge project override {name} --yes",
        "terminate": f"forge project terminate {name} --yes",
    }
    shown = ((commands.get(each.action) or each.document, each) for each in seen.offers)
    return [f"{command}   ({each.title}. {each.about})" for command, each in shown]


def exit_of(seen: ProjectView) -> int:
    """0 done or at rest · 1 the run failed · 3 halted by a guard · 4 waits for a person."""
    if seen.problem:
        return Exit.ERROR
    if seen.halt_reason == "human_terminated":
        return Exit.OK
    if seen.phase == "halted":
        return Exit.LIMITED if (seen.halt_reason or "").startswith(_GUARDS) else Exit.WAITING
    waits = seen.waiting is not None or seen.phase in ("human_review", "spec_building")
    return Exit.WAITING if waits else Exit.OK


def _colour(seen: ProjectView) -> str:
    return "yellow" if seen.outline else {"done": "green", "halted": "red"}.get(seen.phase, "yellow")
