"""`forge tools`: what an agent can do: built-in tools, and the repository's own, which a person approves."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import asdict
from typing import Annotated

import typer

from forge.app.sessions.tools import ApprovalState, OwnTool, ToolChange, approved, revoke_found, tool_of, tools_of
from forge.cli.terminal.options import Branch, branch_or_current, branch_to_read, opened, short
from forge.cli.terminal.output import Output
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.project_output import settings_of
from forge.cli.terminal.session import BadUsage, Exit

app = Commands(__doc__, group=True)

_COLOURS = {
    ApprovalState.APPROVED: "green",
    ApprovalState.CHANGED: "yellow",
    ApprovalState.NEW: "yellow",
    ApprovalState.BROKEN: "red",
}
_CHANGES = {"+": ("green",), "-": ("red",), "@": ("cyan",)}
_HASH = 12
Name = Annotated[str, typer.Argument(metavar="TOOL", help="Its name: tools/NAME.py in the repository.")]


@app.add("list")
def list_tools(context: typer.Context, branch: Branch = None) -> None:
    """List the tools of a branch and whether they may run."""
    repo, out = opened(context)
    found = tools_of(repo, branch_to_read(repo, branch))
    out.result(
        {
            "built_in": [{"name": each.name, "description": each.description} for each in found.built_in],
            "own": [_document(tool) for tool in found.own],
            "differences": found.differences,
            "listed_only": found.listed_only,
        }
    )
    names = ", ".join(each.name for each in found.built_in)
    out.line(f"Built in, no approval needed: {names}")
    if not found.own:
        out.aside("The repository has no tools (tools/*.py with get_schema and execute).")
    out.table(
        (
            out.styled(tool.name, "cyan"),
            out.styled(tool.state.value, _COLOURS.get(tool.state, "dim")),
            out.styled(tool.path, "dim"),
            out.styled(tool.reason),
        )
        for tool in found.own
    )
    for text in found.differences:
        out.line(out.styled(f"! {text}", "yellow"))
    if found.listed_only:
        out.aside(
            "An approval counts only if a person gave it in this repository; a file in a branch approves nothing. "
            "Approve the listed tools again, after reading them: `forge tools approve --again`."
        )


@app.add("show")
def show_tool(context: typer.Context, name: Name, branch: Branch = None) -> None:
    """Show a tool of the repository: its state, its files, and what changed since it was approved."""
    repo, out = opened(context)
    tool = tool_of(repo, branch_to_read(repo, branch), name)
    out.result(_document(tool))
    _tell(out, tool)


@app.add("approve")
def approve_tool(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="TOOL", help="Its name: tools/NAME.py.")] = None,
    branch: Branch = None,
    seen: Annotated[
        str | None,
        typer.Option("--hash", metavar="HASH", help="The hash of the tool as you read it; Forge refuses any other."),
    ] = None,
    again: Annotated[
        bool,
        typer.Option("--again", help="Every tool listed as approved that no person approved here."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --again: you have read them.")] = False,
) -> int:
    """Approve a tool of the repository in its current content. Read it first; any change needs a new approval."""
    if (name is None) != again:
        raise BadUsage("Name a tool, or give --again.", hint="`forge tools list` shows the tools.")
    if seen is not None and again:
        raise BadUsage("--hash is for one tool.", hint="Name the tool, without --again.")
    repo, out = opened(context)
    where = branch_or_current(repo, branch)
    tools = tools_of(repo, branch_to_read(repo, where))
    named = tools.listed_only if again else (name,)
    found = [tool for tool in tools.own if tool.name in named]
    for tool in found:
        if again or tool.difference:
            _tell(out, tool)
    if again and found and not yes:
        out.result({"approved": [], "waiting": [_document(tool) for tool in found]})
        out.aside("Nothing was approved. Read them, then add --yes.")
        return Exit.WAITING
    expected = {tool.name: seen or tool.hash for tool in found}
    names = [each for each in named if each is not None]
    changes, _ = approved(repo, where, names, expected=expected) if names else ((), None)
    _tell_approved(out, changes, again=again)
    return Exit.OK


@app.add("revoke")
def revoke_tool(context: typer.Context, name: Name, branch: Branch = None) -> None:
    """Revoke an approval on every branch."""
    from forge.app.access.identity import LOCAL  # noqa: PLC0415 - these load the database
    from forge.app.access.local_access import opened_access  # noqa: PLC0415

    repo, out = opened(context)
    with ExitStack() as stack:
        change = revoke_found(
            lambda: stack.enter_context(opened_access(settings_of(out), os.environ)),
            LOCAL,
            repo,
            branch_or_current(repo, branch),
            name,
        )
    out.result({"name": name, "commit": change.commit, "left": change.left})
    out.line(f"{out.styled(name, 'cyan')} may not run any more.")
    if change.left:
        out.aside(change.left)


def _document(tool: OwnTool) -> dict[str, object]:
    return {**asdict(tool), "state": tool.state.value}


def _tell(out: Output, tool: OwnTool) -> None:
    colour = _COLOURS.get(tool.state, "dim")
    out.line(f"{out.styled(tool.name, 'cyan')} {out.styled(tool.state.value, colour)} {tool.hash[:_HASH]}")
    for text in filter(None, (tool.reason, tool.differs)):
        out.line(f"  {out.styled(text)}")
    for path in tool.files:
        out.line(f"  {out.styled(path, 'dim')}")
    for row in tool.difference.splitlines():
        out.line(out.styled(row, *_CHANGES.get(row[:1], ())))


def _tell_approved(out: Output, changes: Iterable[ToolChange], *, again: bool) -> None:
    told = [{"name": each.name, "hash": each.hash, "files": each.files, "commit": each.commit} for each in changes]
    out.result({"approved": told} if again else told[0])
    if not told:
        out.line("There is nothing to approve again.")
    for each in changes:
        files = out.styled(", ".join(each.files))
        out.line(f"Approved {out.styled(each.name, 'cyan')} {each.hash[:_HASH]} ({files})")
        out.line(f"Saved → {out.styled(short(each.commit), 'yellow')}" if each.commit else "It was approved already.")
