"""`forge branch`: branches listed, made, forked, renamed, rewound and deleted. Nothing is checked out."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.cli.options import Agent, acting, commands, opened, short
from forge.cli.output import Output, ago
from forge.git import Operation

app = commands(__doc__, group=True)

Name = Annotated[str, typer.Argument(help="The branch.", show_default=False)]


@app.command("list")
def list_branches(
    context: typer.Context,
    kept: Annotated[bool, typer.Option("--kept", help="Show tips kept from deleted or rewound branches.")] = False,
) -> None:
    """Branches with their last commit."""
    repo, out = opened(context)
    if kept:
        rows = [{"name": name, "tip": tip, "subject": repo.commit(tip).subject} for name, tip in repo.kept()]
        out.result(rows)
        out.table(
            (out.styled(short(r["tip"]), "yellow"), out.styled(r["name"]), out.styled(r["subject"])) for r in rows
        )
        return
    branches = [(branch, repo.commit(branch.tip)) for branch in repo.branches()]
    out.result(
        [
            {
                "name": branch.name,
                "tip": branch.tip,
                "default": branch.default,
                "protected": branch.protected,
                "checked_out": branch.checked_out,
                "subject": commit.subject,
                "author": commit.author.name,
                "time": commit.committer.time,
            }
            for branch, commit in branches
        ]
    )
    if not branches:
        out.line("There is no branch yet: the first `forge file save` makes one.")
    out.table(
        (
            "*" if branch.checked_out else " ",
            out.styled(branch.name, "bold" if branch.default else "cyan"),
            out.styled(short(branch.tip), "yellow"),
            ago(commit.committer.time),
            out.styled(commit.subject[:60]),
            out.styled("default", "dim") if branch.default else "",
        )
        for branch, commit in branches
    )


@app.command("new")
def new(
    context: typer.Context,
    name: Name,
    start: Annotated[str, typer.Option("--from", metavar="REV", help="Any commit, branch or tag.")] = "HEAD",
    agent: Agent = None,
) -> None:
    """Make a branch at any commit."""
    repo, out = opened(context)
    tip = repo.create_branch(name, start, actor=acting(agent))
    _made(out, name, tip)


@app.command("fork")
def fork(
    context: typer.Context,
    source: Annotated[str, typer.Argument(help="The branch to start from.")],
    name: Name,
    agent: Agent = None,
) -> None:
    """Make a branch from another, with its conversation."""
    repo, out = opened(context)
    tip = repo.fork_branch(source, name, actor=acting(agent))
    _made(out, name, tip)


@app.command("rename")
def rename(context: typer.Context, old: Name, new: Name, agent: Agent = None) -> None:
    """Give a branch another name."""
    repo, out = opened(context)
    _told(out, repo.rename_branch(old, new, actor=acting(agent)), f"Renamed {old} → {new}")


@app.command("rewind")
def rewind(
    context: typer.Context,
    name: Name,
    to: Annotated[str, typer.Argument(help="The commit to go back to.")],
    agent: Agent = None,
) -> None:
    """Set a branch back to a commit. What came after stays reachable."""
    repo, out = opened(context)
    _told(out, repo.rewind_branch(name, to, actor=acting(agent)), f"Rewound {name} to {to}")


@app.command("delete")
def delete(context: typer.Context, name: Name, agent: Agent = None) -> None:
    """Delete a branch. Its tip is kept; `forge undo` brings it back."""
    repo, out = opened(context)
    _told(out, repo.delete_branch(name, actor=acting(agent)), f"Deleted {name}; `forge undo` brings it back")


def _made(out: Output, name: str, tip: str) -> None:
    out.result({"branch": name, "tip": tip})
    out.line(f"{out.styled(name, 'cyan')} at {out.styled(short(tip), 'yellow')}")


def _told(out: Output, operation: Operation, text: str) -> None:
    out.result({"operation": operation})
    out.line(out.styled(text))
