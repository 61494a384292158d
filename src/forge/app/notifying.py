"""Notifications: a test message, sent at once and told how it went."""

from __future__ import annotations

from dataclasses import dataclass

from forge.app.surroundings import plugins_of
from forge.app.workshop import Workshop
from forge.errors import ForgeError
from forge.plugins.contracts import Notice

_TEST = Notice("test", "Forge", "test", "milestone_complete", "This is a test message from Forge.")


@dataclass(frozen=True, slots=True)
class Sent:
    channel: str
    sent: bool
    reason: str = ""


async def send_test(shop: Workshop) -> tuple[Sent, ...]:
    """Past the outbox, so that whoever set a channel up sees what is wrong with it."""
    results: list[Sent] = []
    for name, channel in plugins_of(shop.settings).made_channels(shop.settings.notifications.channels):
        try:
            await channel.send(_TEST)
            results.append(Sent(name, sent=True))
        except ForgeError as e:
            results.append(Sent(name, sent=False, reason=f"{e.message} {e.hint}".strip()))
    return tuple(results)
