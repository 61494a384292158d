"""`forge notify`: notifications: a test message, and what was sent or still waits."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from forge.cli.terminal.output import ago, cut
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.project_output import opened_shop
from forge.cli.terminal.session import Exit, Session

app = Commands(__doc__, group=True)


@app.add("list")
def list_notices(
    context: typer.Context,
    last: Annotated[int, typer.Option("--last", "-n", metavar="N", min=1, help="How many.")] = 20,
) -> None:
    """List notices: sent, waiting, or given up."""
    session: Session = context.obj
    out = session.output

    async def show() -> None:
        from forge.app.admin.notifications import outbox  # noqa: PLC0415

        async with opened_shop(session) as shop:
            entries = outbox(shop)[-last:]
        out.result(entries)
        if not entries:
            out.aside("Nothing was to be sent yet.")
        out.table(
            (
                out.styled(each.channel, "cyan"),
                each.state,
                ago(each.created),
                each.project,
                cut(each.summary, 60),
                each.error,
            )
            for each in entries
        )

    asyncio.run(show())


@app.add("test")
def test(context: typer.Context) -> int:
    """Send a message through every channel that is enabled, now, and say what became of it."""
    session: Session = context.obj
    out = session.output

    async def send() -> int:
        from forge.app.admin.notifications import send_test  # noqa: PLC0415

        async with opened_shop(session) as shop:
            sent = await send_test(shop)
        out.result(sent)
        if not sent:
            out.aside("No channel is enabled: `forge config set notifications.channels.ntfy.enabled true` enables one.")
        for each in sent:
            out.line(f"{out.styled(each.channel, 'cyan')}  {'sent' if each.sent else f'failed: {each.reason}'}")
        return Exit.OK if all(each.sent for each in sent) else Exit.ERROR

    return asyncio.run(send())
