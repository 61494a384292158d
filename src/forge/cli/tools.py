"""`forge tools`: what an agent can do: built-in tools, and the repository's own, which a person approves."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.cli.options import Branch, branch_or_current, opened, short
from forge.cli.parser import Commands
from forge.tools.shelf import builtin_tools
from forge.tools.user_tools import State, approve, revoke, user_tools

app = Commands(__doc__, group=True)

_COLOURS = {State.APPROVED: "green", State.CHANGED: "yellow", State.NEW: "yellow", State.BROKEN: "red"}
Name = Annotated[str, typer.Argument(metavar="TOOL", help="Its name: tools/NAME.py in the repository.")]


@app.add("list")
def list_tools(context: typer.Context, branch: Branch = None) -> None:
    """List the tools of a branch and whether they may run."""
    repo, out = opened(context)
    vfs = repo.workspace(branch_or_current(repo, branch))
    built_in = [tool.get_schema() for tool in builtin_tools(None)]
    own = user_tools(vfs)
    out.result(
        {
            "built_in": [{"name": each["name"], "description": each["description"]} for each in built_in],
            "own": [
                {
                    "name": tool.name,
                    "path": tool.path,
                    "state": tool.state.value,
                    "reason": tool.reason,
                    "hash": tool.hash,
                    "files": sorted(tool.files),
                    "approved_by": tool.approval.approved_by if tool.approval else None,
                }
                for tool in own
            ],
        }
    )
    names = ", ".join(str(each["name"]) for each in built_in)
    out.line(f"Built in, no approval needed: {names}, run_command, run_tests")
    if not own:
        out.aside("The repository has no tools of its own (tools/*.py with get_schema and execute).")
    out.table(
        (
            out.styled(tool.name, "cyan"),
            out.styled(tool.state.value, _COLOURS.get(tool.state, "dim")),
            out.styled(tool.path, "dim"),
            out.styled(tool.reason),
        )
        for tool in own
    )


@app.add("approve")
def approve_tool(context: typer.Context, name: Name, branch: Branch = None) -> None:
    """Let a tool of the repository run, as it is now. Read it first: one changed byte and it must be approved again."""
    repo, out = opened(context)
    vfs = repo.workspace(branch_or_current(repo, branch))
    who = repo.signature()
    tool = approve(vfs, name, f"{who.name} <{who.email}>")
    commit = vfs.commit(f"tools: approve {name}") if vfs.pending else None
    out.result({"name": name, "hash": tool.hash, "files": sorted(tool.files), "commit": commit})
    out.line(f"Approved {out.styled(name, 'cyan')} ({out.styled(', '.join(sorted(tool.files)))})")
    out.line(f"Saved → {out.styled(short(commit), 'yellow')}" if commit else "It was approved already.")


@app.add("revoke")
def revoke_tool(context: typer.Context, name: Name, branch: Branch = None) -> None:
    """Take an approval back."""
    repo, out = opened(context)
    vfs = repo.workspace(branch_or_current(repo, branch))
    revoke(vfs, name)
    commit = vfs.commit(f"tools: revoke {name}") if vfs.pending else None
    out.result({"name": name, "commit": commit})
    out.line(f"{out.styled(name, 'cyan')} may not run any more.")
