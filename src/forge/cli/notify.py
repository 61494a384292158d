"""`forge notify`: notifications: a test message to what is set up."""

from __future__ import annotations

import asyncio

import typer

from forge.cli.parser import Commands
from forge.cli.projecting import opened_shop
from forge.cli.running import Exit, Session

app = Commands(__doc__, group=True)


@app.add("test")
def test(context: typer.Context) -> int:
    """Send a message through every channel that is enabled, now, and say what became of it."""
    session: Session = context.obj
    out = session.output

    async def send() -> int:
        from forge.app.notifying import send_test  # noqa: PLC0415

        async with opened_shop(out) as shop:
            sent = await send_test(shop)
        out.result(sent)
        if not sent:
            out.aside("No channel is enabled: `forge config set notifications.channels.ntfy.enabled true` enables one.")
        for each in sent:
            out.line(f"{out.styled(each.channel, 'cyan')}  {'sent' if each.sent else f'failed: {each.reason}'}")
        return Exit.OK if all(each.sent for each in sent) else Exit.ERROR

    return asyncio.run(send())
