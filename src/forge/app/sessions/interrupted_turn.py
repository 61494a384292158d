"""Why nobody continues with an interrupted turn, for whoever has no engine open."""

from __future__ import annotations

from forge.git.refs.reservations import Reservation
from forge.settings import Settings


def reason_to_wait(settings: Settings, held: Reservation | None) -> str:
    """As the process noted it that found the turn and could not continue; empty where nobody did."""
    if held is None or not held.abandoned:
        return ""
    from forge.app.process.workshop import database_url  # noqa: PLC0415 - mostly no turn is interrupted
    from forge.app.sessions.branch_turn import run_of  # noqa: PLC0415
    from forge.store.inspection import Inspection  # noqa: PLC0415

    records = Inspection(database_url(settings))
    try:
        run = records.run(run_of(held.holder)) if records.exist and records.usable else None
    finally:
        records.close()
    return "" if run is None else run.waits_for
