"""`forge board`: projects by phase, with their times, rounds and how their findings went."""

from __future__ import annotations

import asyncio

import typer

from forge.cli.terminal.output import cut
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.project_output import opened_shop
from forge.cli.terminal.session import Session

app = Commands(__doc__)


@app.add()
def board(context: typer.Context) -> None:
    """Show the board."""
    session: Session = context.obj
    out = session.output

    async def show() -> None:
        from forge.app.projects.board import board_of  # noqa: PLC0415

        async with opened_shop(session) as shop:
            seen = board_of(shop)
        out.result(seen)
        if not any(column.cards for column in seen.columns) and not seen.broken:
            out.aside("There is no project yet: `forge project new NAME` makes one.")
        for column in (column for column in seen.columns if column.cards):
            out.line(out.styled(f"{column.title} ({len(column.cards)})", "bold"))
            out.table(
                (
                    "  " + out.styled(card.row.name, "cyan"),
                    card.row.halt_reason or (cut(f"waits: {card.row.waiting}", 50) if card.row.waiting else ""),
                    _span(card.overall if column.phase == "done" else card.in_phase),
                    f"{card.row.rounds} round{'s' * (card.row.rounds != 1)}" if card.row.rounds else "",
                    f"{card.sparkline} {card.trend}".strip(),
                )
                for card in column.cards
            )
        for sentence in seen.broken:
            out.note(f"forge: {sentence}")

    asyncio.run(show())


def _span(seconds: float) -> str:
    """How long, in one unit."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
