"""`forge env`: what a branch needs to run, set up once and shared by every branch with the same lock files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from forge.app.repositories.environments import (
    EnvironmentState,
    EnvironmentStatus,
    allow_hosts,
    environment_document,
    set_own_configuration,
)
from forge.cli.commands import environment_shell
from forge.cli.terminal.options import Branch, branch_to_read, environments_of, opened
from forge.cli.terminal.output import Output
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.progress import waiting
from forge.cli.terminal.project_output import settings_of
from forge.cli.terminal.session import BadUsage, Exit
from forge.counts import counted

app = Commands(__doc__, group=True)

_COLOURS = {EnvironmentStatus.READY: "green", EnvironmentStatus.FAILED: "red", EnvironmentStatus.NONE: "dim"}
_CHANGES = {"+": ("green",), "-": ("red",), "@": ("cyan",)}
_WORDS = {
    EnvironmentStatus.NONE: "nothing to set up",
    EnvironmentStatus.NOT_APPROVED: "not approved",
    EnvironmentStatus.CHANGED: "changed since it was approved",
    EnvironmentStatus.APPROVED: "approved, not set up",
    EnvironmentStatus.SETTING_UP: "setting up",
    EnvironmentStatus.READY: "ready",
    EnvironmentStatus.FAILED: "setup failed",
}
_LAST = 12


@app.add("show")
def show_environment(
    context: typer.Context,
    branch: Branch = None,
    log: Annotated[bool, typer.Option("--log", help="Also the log of the setup.")] = False,
) -> None:
    """Show what a branch needs: commands, hosts, services, and whether it is approved and set up."""
    repo, out = opened(context)
    environments = environments_of()
    state = environments.state(repo, branch_to_read(repo, branch))
    lines = environments.log(state) if log else ()
    out.result({**environment_document(state), **({"log": lines} if log else {})})
    _tell(out, state)
    for line in lines:
        out.line(out.styled(line, "dim"))


@app.add("setup")
def set_up_environment(
    context: typer.Context,
    branch: Branch = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Approve what it shows: you have read it.")] = False,
    seen: Annotated[
        str | None, typer.Option("--hash", metavar="HASH", help="Approve exactly the proposal that you read.")
    ] = None,
    allow: Annotated[
        list[str] | None, typer.Option("--allow", metavar="HOST", help="A further host that setups may reach.")
    ] = None,
    use: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Your own environment.yaml for this repository.")
    ] = None,
    unset: Annotated[bool, typer.Option("--unset", help="Go by the files of the branch again.")] = False,
) -> int:
    """Set up the environment of a branch. What would run is shown first and approved once."""
    from forge.app.access.identity import LOCAL  # noqa: PLC0415 - these load the database
    from forge.app.access.local_access import opened_access  # noqa: PLC0415
    from forge.app.repositories.environment_access import approve_found, set_up_found  # noqa: PLC0415

    repo, out = opened(context)
    if use is not None and unset:
        raise BadUsage("--from and --unset contradict each other.", hint="Leave one of them out.")
    if use is not None or unset:
        set_own_configuration(repo, use.read_text(encoding="utf-8") if use else "")
    where = branch_to_read(repo, branch)
    environments = environments_of()
    if allow:
        allow_hosts(repo, where, allow)
    state = environments.state(repo, where)
    if state.state is EnvironmentStatus.NONE:
        out.result(environment_document(state))
        out.aside(f"Nothing on {where} says what to set up. Add a lock file, or write .forge/environment.yaml.")
        return Exit.OK
    if state.state in (EnvironmentStatus.NOT_APPROVED, EnvironmentStatus.CHANGED):
        _tell(out, state)
        if not yes and seen is None:
            out.result(environment_document(state))
            out.aside("Nothing ran. Read it, then add --yes.")
            return Exit.WAITING
    elif seen is not None and seen != state.proposal.hash:
        raise BadUsage("The hash is not that of the proposal.", hint="Read it again with `forge env show`.")
    with opened_access(settings_of(out), os.environ) as access:
        if state.state in (EnvironmentStatus.NOT_APPROVED, EnvironmentStatus.CHANGED):
            expected = seen or state.proposal.hash
            approve_found(access, LOCAL, environments, repo, where, expected=expected)
        with waiting(out, f"Setting up {where}"):
            state = set_up_found(access, environments, repo, where, _progress(out))
    out.result(environment_document(state))
    _tell_layer(out, state)
    return Exit.OK


app.add("shell")(environment_shell.open_shell)


@app.add("clear")
def clear_environment(
    context: typer.Context,
    branch: Branch = None,
    everything: Annotated[bool, typer.Option("--all", help="The layers of every repository.")] = False,
) -> None:
    """Remove the layer of a branch, or every layer. One that a command uses stays."""
    from forge.app.access.local_access import opened_access  # noqa: PLC0415 - these load the database
    from forge.app.repositories.environment_access import publish_state  # noqa: PLC0415

    repo, out = opened(context)
    environments, where = environments_of(), branch_to_read(repo, branch)
    gone = environments.clear(repo, None if everything else where)
    with opened_access(settings_of(out), os.environ) as access:
        publish_state(access, environments, repo, where)
    out.result({"removed": [each.key for each in gone], "bytes": sum(each.size for each in gone)})
    count = counted(len(gone), "layer")
    out.line(f"Removed {count}, {_size(sum(each.size for each in gone))}.")


def _progress(out: Output) -> Callable[[int, int, str], None]:
    def tell(step: int, steps: int, command: str) -> None:
        out.note(f"[{step}/{steps}] {command}")

    return tell


def _tell(out: Output, state: EnvironmentState) -> None:
    proposal = state.proposal
    colour = _COLOURS.get(state.state, "yellow")
    out.line(f"{out.styled(state.branch, 'cyan')}  {out.styled(_WORDS[state.state], colour)}")
    _tell_proposal(out, state)
    for note in proposal.notes:
        out.line(out.styled(f"  note: {note}", "dim"))
    for row in state.difference.splitlines():
        out.line(out.styled(row, *_CHANGES.get(row[:1], ())))
    if state.failure is not None:
        out.line(out.styled(state.failure.reason, "red"))
        for line in state.failure.lines[-_LAST:]:
            out.line(out.styled(f"  {line}", "dim"))
        out.line(f"  → {state.failure.hint}")
    elif state.state is EnvironmentStatus.READY:
        _tell_layer(out, state)
    elif state.state in (EnvironmentStatus.NOT_APPROVED, EnvironmentStatus.CHANGED):
        out.line(f"  hash {proposal.hash.removeprefix('sha256:')[:12]}  → forge env setup --yes")
    elif state.state is EnvironmentStatus.APPROVED:
        out.line("  → forge env setup")


def _tell_proposal(out: Output, state: EnvironmentState) -> None:
    proposal = state.proposal
    for need in proposal.needs:
        runtime = f", {need.runtime.name} {need.runtime.version}".rstrip() if need.runtime else ""
        untried = ", untried" if need.untried else ""
        out.line(f"  {need.manager} ({', '.join(need.because)}{runtime}{untried})")
    if proposal.image is not None:
        out.line(f"  image: {proposal.image.name} ({proposal.image.engine}, {proposal.image.id[:12]})")
    for command in proposal.commands:
        out.line(out.styled(f"  $ {command}", "dim"))
    for words, values in (
        ("may reach", proposal.hosts),
        ("services", proposal.services),
        ("sets", tuple(f"{name}={value}" for name, value in proposal.variables.items())),
        ("keeps caches", proposal.caches),
    ):
        if values:
            out.line(f"  {words}: {', '.join(values)}")
    if proposal.test_command:
        out.line(f"  tests: {proposal.test_command}")


def _tell_layer(out: Output, state: EnvironmentState) -> None:
    layer = state.layer
    if layer is None:
        return
    out.line(f"  Ready: layer {layer.key}, {_size(layer.size)}, made in {layer.seconds:.1f} s.")
    if layer.refused:
        out.line(out.styled(f"  Refused: {', '.join(layer.refused)}", "yellow"))


def _size(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MB"
