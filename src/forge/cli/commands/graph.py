"""`forge graph`: commits and branches as a drawing, newest on top."""

from __future__ import annotations

from typing import Annotated

import typer

from forge.app.repositories.history import GraphRow, graph_entry, graph_page
from forge.cli.terminal.options import MOST, opened, short
from forge.cli.terminal.output import Output, ago
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.progress import waiting

app = Commands(__doc__)

_PREFIXES = {"refs/heads/": "", "refs/remotes/": "", "refs/tags/": "tag ", "refs/forge/kept/": "kept "}


@app.add()
def graph(
    context: typer.Context,
    limit: Annotated[int, typer.Option("-n", metavar="N", min=1, max=MOST, help="How many commits.")] = 50,
    abandoned: Annotated[
        bool, typer.Option("--abandoned", help="Also what only kept tips and reflogs remember.")
    ] = False,
    after: Annotated[
        str | None, typer.Option("--after", metavar="CURSOR", help="Continue after a page: its `next` in JSON.")
    ] = None,
) -> None:
    """Draw the commits of all branches."""
    repo, out = opened(context)
    with waiting(out, "Looking through the history"):
        rows, more = graph_page(repo, limit=limit, after=after, abandoned=abandoned)
    out.result({"rows": [graph_entry(row) for row in rows], "next": more})
    if not rows:
        out.aside("There is no commit yet: the first `forge file save` makes one.")
    for row in rows:
        _show(out, row, abandoned=abandoned)
    if rows and rows[-1].tips_left_out:
        out.aside(f"{rows[-1].tips_left_out:,} older branches and tags are not drawn; `forge log BRANCH` shows one.")
    if more:
        out.aside(f"There are more commits: -n shows more than {limit}.")


def _show(out: Output, row: GraphRow, *, abandoned: bool) -> None:
    names = [_named(name) for name in row.refs if abandoned or not name.startswith("refs/forge/")]
    parts = [
        _drawn(row),
        "",
        out.styled(short(row.commit.id), "yellow"),
        out.styled("abandoned", "dim") if row.abandoned else None,
        *(out.styled(f"[{name}]", "cyan") for name in names),
        out.styled(f"[+{row.refs_left_out:,} more]", "cyan") if row.refs_left_out else None,
        out.styled(row.commit.subject),
        "",
        out.styled(ago(row.commit.time), "dim"),
    ]
    out.line(" ".join(part for part in parts if part is not None))
    joints = _joints(row)
    if joints:
        out.line(joints)


def _named(ref: str) -> str:
    for prefix, word in _PREFIXES.items():
        if ref.startswith(prefix):
            return word + ref.removeprefix(prefix)
    return ref


def _drawn(row: GraphRow) -> str:
    """The commit's row: a dot in its lane, bars where other lines pass by."""
    passing = {edge.from_lane for edge in row.edges}
    width = max([row.lane, *passing], default=0) + 1
    return " ".join("●" if lane == row.lane else "│" if lane in passing else " " for lane in range(width))


def _joints(row: GraphRow) -> str:
    """The lines to the next row, drawn only where one changes its lane."""
    bends = [edge for edge in row.edges if edge.from_lane != edge.to_lane]
    if not bends:
        return ""
    width = 2 * max(max(edge.from_lane, edge.to_lane) for edge in row.edges) + 1
    cells = [" "] * width
    for edge in row.edges:
        if edge.from_lane == edge.to_lane:
            cells[2 * edge.from_lane] = "│"
    for edge in bends:
        left, right = sorted((2 * edge.from_lane, 2 * edge.to_lane))
        for place in range(left + 1, right):
            cells[place] = "─" if cells[place] == " " else cells[place]
        down = edge.to_lane > edge.from_lane
        cells[left] = "├" if cells[left] == "│" else ("╰" if down else "╭")
        cells[right] = "┤" if cells[right] == "│" else ("╮" if down else "╯")
    return "".join(cells)
