"""`forge tests`: how the tests of a branch run, and the command that runs them; `forge test` runs it."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from forge.app.repositories.branch_tests import set_for_repository, tests_of_branch
from forge.cli.terminal.options import Branch, branch_to_read, opened
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.project_output import settings_of
from forge.cli.terminal.session import BadUsage

app = Commands(__doc__)

SetCommand = Annotated[
    str | None, typer.Option("--set", metavar="COMMAND", help="The shell command that runs the tests.")
]
UnsetCommand = Annotated[bool, typer.Option("--unset", help="Detect the command from the files again.")]


def chosen_command(command: str | None, *, unset: bool) -> str | None:
    """What is to be set; empty goes by the files again, None changes nothing."""
    if command is not None and unset:
        raise BadUsage("--set and --unset contradict each other.", hint="Leave one of them out.")
    if command is not None and not command.strip():
        raise BadUsage("The test command is empty.", hint="Give one, or --unset.")
    return "" if unset else command


@app.add("tests")
def show_tests(
    context: typer.Context, branch: Branch = None, command: SetCommand = None, unset: UnsetCommand = False
) -> None:
    """Show how the tests of a branch run, or set the command for this repository. Agents and projects use the same."""
    show_command(context, branch, chosen_command(command, unset=unset))


def show_command(context: typer.Context, branch: str | None, chosen: str | None) -> None:
    """Show the command after setting it, where `chosen` says which."""
    repo, out = opened(context)
    name = branch_to_read(repo, branch)
    if chosen is not None:
        from forge.app.access.identity import LOCAL  # noqa: PLC0415 - loads the database, which takes a moment
        from forge.app.access.local_access import opened_access  # noqa: PLC0415

        with opened_access(settings_of(out), os.environ) as access:
            set_for_repository(access, LOCAL, repo, chosen)
    shown = tests_of_branch(repo, name)
    out.result(shown)
    out.line(f"Tests: {shown.text}")
    if not shown.suites:
        out.line("  → forge test --set COMMAND")
