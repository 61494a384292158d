"""One notice through the apprise library, off the event loop; what it logs becomes the error's reason."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from forge.notices.errors import NotDelivered
from forge.notices.payload import text, title
from forge.plugins.roles import Notice

if TYPE_CHECKING:
    from apprise import AppriseAsset, AppriseResult, NotifyBase

MakeService = Callable[["AppriseAsset"], "NotifyBase | None"]

_CONNECT_SECONDS = 5.0
_READ_SECONDS = 10.0

_TONES = {
    "convergence_success": "success",
    "milestone_complete": "info",
    "guard_triggered": "warning",
    "human_needed": "warning",
    "error": "failure",
}


async def send(channel: str, make: MakeService, notice: Notice, *, redact: Callable[[str], str]) -> None:
    """Raises `NotDelivered`. Cancelled, it stops waiting; the request itself may still arrive."""
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[str | None] = loop.create_future()

    def settle(reason: str | None, broken: Exception | None) -> None:
        if outcome.done():
            return
        if broken is not None:
            outcome.set_exception(broken)
        else:
            outcome.set_result(reason)

    def work() -> None:
        reason, broken = None, None
        try:
            reason = _delivered(make, notice)
        except Exception as error:  # noqa: BLE001 - handed on, to whoever waits
            broken = error
        try:
            loop.call_soon_threadsafe(settle, reason, broken)
        except RuntimeError:  # the loop is closed: nobody waits any more
            return

    # A daemon: a server that does not answer must not hold up the end of the process, as a pool's threads would.
    threading.Thread(target=work, name=f"forge-notice-{channel}", daemon=True).start()
    reason = await outcome
    if reason is not None:
        raise NotDelivered(
            f"{channel} did not take the notice: {redact(reason)}", hint="check the channel with `forge notify test`"
        )


def _delivered(make: MakeService, notice: Notice) -> str | None:
    """None, or why not."""
    from apprise import Apprise, AppriseAsset  # noqa: PLC0415 - a third of a second, needed by few commands
    from apprise.exception import AppriseException  # noqa: PLC0415

    _keep_quiet()
    asset = AppriseAsset(
        app_id="Forge",
        app_desc="Forge",
        async_mode=False,
        service_timeout=0,
        secure_logging=True,
        storage_mode="memory",
    )
    try:
        service = make(asset)
    except (AppriseException, TypeError, ValueError) as error:
        return str(error)
    if service is None:
        return "the address is not one that a service understands"
    service.socket_connect_timeout = _CONNECT_SECONDS
    service.socket_read_timeout = _READ_SECONDS
    sender = Apprise(asset=asset)
    sender.add(service)
    result = sender.notify(
        body=text(notice), title=title(notice), body_format="text", notify_type=_TONES.get(notice.event_type, "info")
    )
    with result:
        return None if result else _reason(result)


def _reason(result: AppriseResult) -> str:
    said = [entry.message.strip() for entry in result.logs() if entry.level in {"WARNING", "ERROR"}]
    return " ".join(said)[:300] or "no reason given"


def _keep_quiet() -> None:
    # Its records hold addresses with tokens in them. What they say comes back with the result, and is redacted there.
    logging.getLogger("apprise").propagate = False
