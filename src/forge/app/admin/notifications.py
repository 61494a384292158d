"""Notifications: a test message, sent at once and told how it went."""

from __future__ import annotations

from dataclasses import dataclass

from forge.app.admin.plugins import plugins_of
from forge.app.process.workshop import Workshop
from forge.errors import ForgeError
from forge.notices.errors import NotDelivered
from forge.plugins.roles import Notice
from forge.store.outbox import Outbox

_TEST = Notice("test", "Forge", "test", "milestone_complete", "This is a test message from Forge.")


@dataclass(frozen=True, slots=True)
class Sent:
    channel: str
    sent: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A notice in the outbox."""

    channel: str
    state: str
    summary: str
    project: str
    created: float
    attempts: int
    error: str


def outbox(shop: Workshop) -> tuple[Waiting, ...]:
    """What was to be sent, oldest first, with what became of it."""
    return tuple(
        Waiting(
            entry.channel,
            entry.state,
            str(entry.notice.get("summary", "")),
            str(entry.notice.get("project_name", "")),
            entry.created,
            entry.attempts,
            entry.error or "",
        )
        for entry in Outbox(shop.database).list()
    )


async def send_test(shop: Workshop) -> tuple[Sent, ...]:
    """Past the outbox, so that whoever set a channel up sees what is wrong with it."""
    results: list[Sent] = []
    for name, channel in plugins_of(shop.settings).made_channels(shop.settings.notifications.channels):
        try:
            await channel.send(_TEST)
            results.append(Sent(name, sent=True))
        except ForgeError as e:
            results.append(Sent(name, sent=False, reason=f"{e.message} {_what_to_do(name, e)}".strip()))
    return tuple(results)


def _what_to_do(channel: str, error: ForgeError) -> str:
    """Who is not heard is usually told to send a test, which is what was just done."""
    if isinstance(error, NotDelivered):
        return f"Check its settings: `forge config show notifications.channels.{channel}`."
    return error.hint
