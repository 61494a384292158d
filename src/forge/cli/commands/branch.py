"""`forge branch`: branches listed, made, forked, renamed, rewound and deleted. Nothing is checked out."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from forge.app.repositories import branches
from forge.app.repositories.catalog import Operation, moved_by
from forge.cli.terminal.options import As, acting, opened, short, tell_checkouts
from forge.cli.terminal.output import Output, ago, cut
from forge.cli.terminal.parser import Commands

app = Commands(__doc__, group=True)

Name = Annotated[str, typer.Argument(metavar="BRANCH", help="Its name, for example ai/cache-layer.")]


@app.add("list")
def list_branches(
    context: typer.Context,
    kept: Annotated[bool, typer.Option("--kept", help="Show tips kept from deleted or rewound branches.")] = False,
) -> None:
    """List branches with their last commit. A star marks those that are checked out."""
    repo, out = opened(context)
    if kept:
        tips = list(branches.kept(repo))
        # `tip` is the older name of `commit`.
        out.result([{**asdict(tip), "tip": tip.commit} for tip in tips])
        if not tips:
            out.aside("No tip had to be kept so far.")
        out.table(
            (out.styled(tip.name, "cyan"), out.styled(short(tip.commit), "yellow"), out.styled(cut(tip.subject, 60)))
            for tip in tips
        )
        return
    found = branches.listed(repo)
    # As the API has them; `tip` and `default` are the older names of `commit` and `is_default`.
    out.result([{**asdict(branch), "tip": branch.commit, "default": branch.is_default} for branch in found])
    if not found:
        out.aside("There is no branch yet: the first `forge file save` makes one.")
    out.table(
        (
            "*" if branch.checked_out else " ",
            out.styled(branch.name, "bold" if branch.is_default else "cyan"),
            out.styled(short(branch.commit), "yellow"),
            ago(int(branch.time)) if branch.time else "",
            out.styled(f"damaged: {branch.damage}", "red") if branch.damage else out.styled(cut(branch.subject, 60)),
            out.styled("default", "dim") if branch.is_default else "",
        )
        for branch in found
    )


@app.add("new")
def new(
    context: typer.Context,
    branch: Name,
    start: Annotated[str, typer.Option("--from", metavar="REV", help="Any commit, branch or tag.")] = "HEAD",
    agent: As = None,
) -> None:
    """Create a branch at any commit."""
    repo, out = opened(context)
    _made(out, branch, branches.create(repo, branch, start, actor=acting(agent)))


@app.add("fork")
def fork(
    context: typer.Context,
    source: Annotated[str, typer.Argument(help="The branch to start from.")],
    branch: Name,
    agent: As = None,
) -> None:
    """Create a branch from another one, with its conversation."""
    repo, out = opened(context)
    _made(out, branch, branches.fork(repo, source, branch, actor=acting(agent)))


@app.add("rename")
def rename(
    context: typer.Context,
    old: Annotated[str, typer.Argument(help="The branch.")],
    new: Annotated[str, typer.Argument(help="The new name.")],
    agent: As = None,
) -> None:
    """Rename a branch."""
    repo, out = opened(context)
    _told(out, branches.rename(repo, old, new, actor=acting(agent)), f"Renamed {old} → {new}")


@app.add("rewind")
def rewind(
    context: typer.Context,
    branch: Annotated[str, typer.Argument(help="The branch.")],
    to: Annotated[str, typer.Argument(metavar="REV", help="The commit to go back to.")],
    agent: As = None,
) -> None:
    """Reset a branch to a commit. Later commits stay reachable; `forge undo` restores them."""
    repo, out = opened(context)
    operation = branches.rewind(repo, branch, to, actor=acting(agent))
    after = moved_by(operation).get(branch)
    _told(out, operation, f"Rewound {branch} → {short(after or '')}")


@app.add("delete")
def delete(
    context: typer.Context,
    branch: Annotated[str, typer.Argument(help="The branch.")],
    agent: As = None,
) -> None:
    """Delete a branch. Its tip is kept; `forge undo` restores it."""
    repo, out = opened(context)
    _told(out, branches.delete(repo, branch, actor=acting(agent)), f"Deleted {branch}; `forge undo` brings it back.")


def _made(out: Output, name: str, tip: str) -> None:
    out.result({"branch": name, "tip": tip})
    out.line(f"{out.styled(name, 'cyan')} → {out.styled(short(tip), 'yellow')}")


def _told(out: Output, operation: Operation, text: str) -> None:
    out.result({"operation": operation})
    out.line(out.styled(text))
    tell_checkouts(out, operation)
