"""`forge project`: projects from brain dump to deliverable: made, talked to, confirmed, resumed, archived."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forge.cli.commands import project_admin
from forge.cli.commands.tests import SetCommand, UnsetCommand, chosen_command
from forge.cli.terminal.output import Output, ago, plain
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.project_output import (
    Agent,
    Teller,
    Type,
    Which,
    directory_of,
    exit_of,
    found,
    next_steps,
    opened_here,
    output_of,
    settings_of,
    tell_state,
    test_words,
    told,
)
from forge.cli.terminal.session import BadUsage, Exit
from forge.counts import counted
from forge.errors import ForgeError

if TYPE_CHECKING:
    from forge.app.projects.messages import Given
    from forge.app.projects.named_run import ActionEffect
    from forge.app.projects.project_tests import ProjectTests
    from forge.cli.terminal.open_project import OpenProject

app = Commands(__doc__, group=True)

Text = Annotated[
    str | None, typer.Option("--message", "-m", metavar="TEXT", help="Your message; - reads standard input.")
]
Delegate = Annotated[
    list[str] | None,
    typer.Option("--delegate", metavar="NUMBER", help="Let Forge answer this question, by number, or `all`."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


@app.add("new")
def new(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The name; Forge chooses one if left out.")] = None,
    message: Text = None,
    repository: Annotated[
        str | None, typer.Option("--repo", metavar="DIR", help="The repository to build code in, on its own branch.")
    ] = None,
    agent: Agent = None,
    after: Annotated[
        str | None, typer.Option("--after", metavar="PROJECT", help="Build code from this finished plan.")
    ] = None,
    kind: Type = None,
) -> None:
    """Create a project."""
    out = output_of(context)
    text = _said(message) if message is not None else None
    asyncio.run(_new(context, out, name, text, repository, agent, after, kind))


async def _new(
    context: typer.Context,
    out: Output,
    name: str | None,
    text: str | None,
    repository: str | None,
    agent: str | None,
    after: str | None,
    kind: str | None,
) -> None:
    from forge.cli.terminal.open_project import WantedProject, created_project  # noqa: PLC0415

    place = directory_of(context) / repository if repository else None
    wanted = WantedProject(name, agent, place, after, kind)
    async with created_project(context.obj, settings_of(out), wanted) as opened:
        heard = (await opened.say(text)).message if text else ""
        seen = await opened.view()
        out.result(seen)
        if heard:
            out.text(heard, "cyan")
        if not text:
            out.text(opened.project.chat()[0].content)
            out.line()
        tell_state(out, seen)


@app.add("list")
def list_projects(
    context: typer.Context,
    archived: Annotated[bool, typer.Option("--all", "-a", help="Include archived projects.")] = False,
) -> None:
    """List projects, most recently changed first."""
    from forge.app.projects.catalog import workspace_of  # noqa: PLC0415
    from forge.app.projects.view import views  # noqa: PLC0415

    out = output_of(context)
    listed = workspace_of(settings_of(out)).list(archived=archived)
    seen, unread = views(None, listed)
    broken = (*listed.broken, *unread)
    out.result({"projects": [each for _, each in seen], "broken": broken})
    if not seen and not broken:
        out.aside("There is no project yet: `forge project new NAME` makes one.")
    out.table(
        (
            out.styled(project.directory.name, "cyan"),
            each.name,
            each.label,
            ago(project.changed_at()),
            "archived" if each.archived else "",
        )
        for project, each in seen
    )
    for sentence in broken:
        out.note(f"forge: {sentence}")


@app.add("show")
def show(
    context: typer.Context,
    project: Which = None,
    earlier: Annotated[
        bool, typer.Option("--earlier", help="Include messages from before the last confirmation.")
    ] = False,
) -> None:
    """Show the conversation and the state of a project."""
    out = output_of(context)
    found_one = found(settings_of(out), project, directory_of(context))
    sentences = told(out, found_one)
    from forge.app.projects.catalog import whole_chat  # noqa: PLC0415
    from forge.app.projects.view import view  # noqa: PLC0415

    seen = view(None, found_one)
    chat = whole_chat(found_one) if earlier else found_one.chat()
    out.result({"project": seen, "chat": chat, "recovered": sentences})
    for message in chat:
        who = "you" if message.role == "human" else "forge"
        out.line(out.styled(f"{who}, {message.phase}:", "bold"))
        out.text(message.content)
        out.line()
    tell_state(out, seen)


@app.add("status")
def status(context: typer.Context, project: Which = None) -> int:
    """Show the state of a project and the possible actions. Exit code 4: it waits for a person."""
    out = output_of(context)

    async def look() -> int:
        async with opened_here(context, project) as opened:
            told(out, opened.project)
            seen = await opened.view()
        out.result(seen)
        tell_state(out, seen)
        return exit_of(seen)

    return asyncio.run(look())


@app.add("say")
def say(
    context: typer.Context,
    project: Which = None,
    message: Text = None,
    files: Annotated[
        list[str] | None, typer.Option("--file", "-f", metavar="FILE", help="A file to add to resources/.")
    ] = None,
    delegate: Delegate = None,
    about: Annotated[
        str | None,
        typer.Option("--about", metavar="WHAT", help="The kind of your first message: `background` or `problem`."),
    ] = None,
) -> int:
    """Send a message: more of the brain dump, a correction, an answer, or input for a stuck build."""
    if about not in (None, "background", "problem"):
        raise BadUsage(f"`{about}` is neither `background` nor `problem`.", hint="Give one of the two.")
    text = _said(message, optional=bool(files or delegate or about))
    return _act(context, project, None, text=text, files=files or (), delegate=delegate or (), about=about)


@app.add("distill")
def distill(context: typer.Context, project: Which = None) -> int:
    """Organise the brain dump into an intent."""
    return _act(context, project, "distill")


@app.add("confirm")
def confirm(context: typer.Context, project: Which = None) -> int:
    """Confirm the intent or the specification; Forge continues with the next phase."""
    return _act(context, project, "confirm")


@app.add("provide-input")
def provide_input(
    context: typer.Context,
    project: Which = None,
    message: Text = None,
    delegate: Annotated[bool, typer.Option("--delegate", help="Let Forge answer the question.")] = False,
    option: Annotated[
        int | None, typer.Option("--option", metavar="NUMBER", help="Choose one of the listed options.")
    ] = None,
) -> int:
    """Answer a stuck build, or give a halted project the missing input."""
    if option is not None and (message or delegate):
        raise BadUsage("Give --option, --message or --delegate, not several.", hint="One of them is the answer.")
    text = _said(message, optional=delegate or option is not None)
    return _act(context, project, "provide_input", text=text, delegate=("1",) if delegate else (), option=option)


@app.add("resume")
def resume(context: typer.Context, project: Which = None, agent: Agent = None) -> int:
    """Continue a project that halted, was interrupted or failed."""
    return _act(context, project, "resume", agent=agent)


@app.add("override")
def override(context: typer.Context, project: Which = None, yes: Yes = False) -> int:
    """Accept the result as final, or build from an incomplete plan."""
    return _act(context, project, "override", confirmed=yes)


@app.add("terminate")
def terminate(context: typer.Context, project: Which = None, yes: Yes = False) -> int:
    """End a project for good, even while Forge works on it."""
    return _act(context, project, "terminate", confirmed=yes)


def _act(
    context: typer.Context,
    which: str | None,
    action: str | None,
    *,
    text: str = "",
    confirmed: bool = False,
    files: tuple[str, ...] | list[str] = (),
    agent: str | None = None,
    delegate: tuple[str, ...] | list[str] = (),
    about: str | None = None,
    option: int | None = None,
) -> int:
    out = output_of(context)

    async def act() -> int:
        from forge.app.projects.autopilot import watch  # noqa: PLC0415

        async with opened_here(context, which) as opened:
            told(out, opened.project)
            failed = await _added(out, opened, directory_of(context), files)
            words = text if option is None else await _option(option, opened)
            done = await _done(opened, action, words, delegate, about, confirmed=confirmed, agent=agent)
            if done.run is None and done.message:
                out.text(done.message, "cyan")
            async with Teller(out) as teller:
                seen = await watch(opened, done, teller)
        out.result({**plain(seen), "failed": failed} if failed else seen)
        tell_state(out, seen)
        return Exit.ERROR if failed else exit_of(seen)

    return asyncio.run(act())


async def _added(out: Output, opened: OpenProject, base: Path, files: Sequence[str]) -> list[dict[str, str]]:
    """Add the files; gives those that were refused, each with the reason."""
    failed = []
    for name in files:
        try:
            out.line(f"Added {await opened.add_resource(base / name)}")
        except ForgeError as e:
            failed.append({"file": name, "code": e.code, "message": e.message, "hint": e.hint})
            out.note(f"! {name} was not added: {e.message}")
            if e.hint:
                out.note(f"  → {e.hint}")
    return failed


async def _delegated(numbers: Sequence[str], opened: OpenProject) -> tuple[Given, ...]:
    from forge.app.projects.messages import Given, all_delegated  # noqa: PLC0415 - loads the engine

    if "all" in numbers:
        return all_delegated(await opened.view())
    if wrong := [each for each in numbers if not each.isascii() or not each.isdigit()]:
        raise BadUsage(f"`{wrong[0]}` is no number of a question.", hint="Give a number, or `all`.")
    return tuple(Given(int(each), delegated=True) for each in dict.fromkeys(numbers))


async def _option(number: int, opened: OpenProject) -> str:
    stuck = (await opened.view()).stuck
    options = stuck["options"] if stuck else []
    if not 1 <= number <= len(options):
        told = f"It names {counted(len(options), 'option')}" if options else "It names no options"
        raise BadUsage(f"There is no option {number}.", hint=f"{told}; answer with -m in your own words.")
    return str(options[number - 1])


async def _done(
    opened: OpenProject,
    action: str | None,
    text: str,
    delegate: Sequence[str],
    about: Any,
    *,
    confirmed: bool,
    agent: str | None,
) -> ActionEffect:
    from forge.app.projects.named_run import ActionEffect  # noqa: PLC0415 - loads the engine

    given = await _delegated(delegate, opened)
    if action is None:
        nothing = ActionEffect(changed=False, run=None, after=0)
        return await opened.say(text, given=given, about=about) if text or given or about else nothing
    try:
        return await opened.perform(action, text=text, given=given, confirmed=confirmed, agent=agent)
    except ForgeError as e:
        if e.code != "action_refused":
            raise
        steps = next_steps(await opened.view(), opened.project.directory.name)
        e.hint = f"Now: {'; '.join(steps)}" if steps else e.hint
        raise


@app.add("tests")
def show_tests(
    context: typer.Context, project: Which = None, command: SetCommand = None, unset: UnsetCommand = False
) -> None:
    """Show the test command of a project and its last result, or set the command."""
    out = output_of(context)
    chosen = chosen_command(command, unset=unset)

    async def look() -> ProjectTests:
        async with opened_here(context, project) as opened:
            return await opened.tests() if chosen is None else await opened.set_test_command(chosen)

    shown = asyncio.run(look())
    out.result(shown)
    out.line(f"Tests: {shown.command.text}")
    for title, run in (("Before the work", shown.baseline), ("Last run", shown.last)):
        if run is not None:
            out.line(f"  {title}: {test_words(run)}")


@app.add("accept-tests")
def accept_tests(context: typer.Context, project: Which = None) -> None:
    """Accept the tests of the last run although there are fewer than before."""
    out = output_of(context)

    async def accept() -> dict[str, Any]:
        async with opened_here(context, project) as opened:
            return await opened.accept_tests()

    given = asyncio.run(accept())
    out.result(given)
    out.line(f"{counted(given['total'], 'test is', 'tests are')} enough from here on")


app.add("stop")(project_admin.stop)
app.add("rename")(project_admin.rename)
app.add("archive")(project_admin.archive)
app.add("delete")(project_admin.delete)
app.add("log")(project_admin.log)
app.add("artifacts")(project_admin.artifacts)


def _said(message: str | None, *, optional: bool = False) -> str:
    if message == "-" or (message is None and not optional and not sys.stdin.isatty()):
        message = sys.stdin.read()
    if not (message or "").strip() and not optional:
        raise BadUsage("There is nothing said.", hint="Give it with -m TEXT.")
    return message or ""
