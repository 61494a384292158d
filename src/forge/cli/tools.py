"""`forge tools`: what an agent can do: built-in tools, and the repository's own, which a person approves."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.app.tooling import State, approved, revoked, tools_of
from forge.cli.options import Branch, branch_or_current, branch_to_read, opened, short
from forge.cli.parser import Commands

app = Commands(__doc__, group=True)

_COLOURS = {State.APPROVED: "green", State.CHANGED: "yellow", State.NEW: "yellow", State.BROKEN: "red"}
Name = Annotated[str, typer.Argument(metavar="TOOL", help="Its name: tools/NAME.py in the repository.")]


@app.add("list")
def list_tools(context: typer.Context, branch: Branch = None) -> None:
    """List the tools of a branch and whether they may run."""
    repo, out = opened(context)
    found = tools_of(repo, branch_to_read(repo, branch))
    own = found.own
    out.result(
        {
            "built_in": [{"name": each.name, "description": each.description} for each in found.built_in],
            "own": [
                {
                    "name": tool.name,
                    "path": tool.path,
                    "state": tool.state.value,
                    "reason": tool.reason,
                    "hash": tool.hash,
                    "files": tool.files,
                    "approved_by": tool.approved_by,
                }
                for tool in own
            ],
        }
    )
    names = ", ".join(each.name for each in found.built_in)
    out.line(f"Built in, no approval needed: {names}")
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
    change, _ = approved(repo, branch_or_current(repo, branch), name)
    commit = change.commit
    out.result({"name": name, "hash": change.hash, "files": change.files, "commit": commit})
    out.line(f"Approved {out.styled(name, 'cyan')} ({out.styled(', '.join(change.files))})")
    out.line(f"Saved → {out.styled(short(commit), 'yellow')}" if commit else "It was approved already.")


@app.add("revoke")
def revoke_tool(context: typer.Context, name: Name, branch: Branch = None) -> None:
    """Take an approval back."""
    repo, out = opened(context)
    change, _ = revoked(repo, branch_or_current(repo, branch), name)
    out.result({"name": name, "commit": change.commit})
    out.line(f"{out.styled(name, 'cyan')} may not run any more.")
