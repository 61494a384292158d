"""A damaged file of the database: what is lost with it and what is not, and how it is put out of the way."""

from __future__ import annotations

from pathlib import Path

from forge.app.admin.checks import REPAIR, Check, Place, failed, warning

SAFE = "Projects and branches are safe: they are in git and in their directories."
LOST = {
    "database": "Lost with it: events, costs, open questions, users and keys, and runs under way that need them.",
    "engine": "Lost with it: runs under way.",
}
_ANEW = {
    "database": "`forge project resume NAME` begins anew what was under way; make users and keys again.",
    "engine": "`forge project resume NAME` begins anew what was under way; say again what was said on a branch.",
}


def found(place: Place, name: str, file: Path | None, damage: str) -> Check:
    """Told; with `repair`, the file is kept by another name, so that the next work makes a new one."""
    if file is None:
        return failed(name, f"The server's tables are damaged: {damage}.", "Bring them back from a copy.")
    if not place.repair:
        hint = f"Stop Forge and bring the file back from a copy, or let it be moved away: {REPAIR} {LOST[name]} {SAFE}"
        return failed(name, f"{file} is damaged: {damage}.", hint)
    from forge.app.process import server_lock  # noqa: PLC0415 - loads what projects need, and mostly nothing is damaged

    with server_lock.only_server(place.settings.data_dir):
        kept = place.records.set_aside(file)
    told = f"{file} was damaged ({damage}) and is now {kept.name}; the next work makes a new one."
    return warning(name, f"{told} {LOST[name]} {SAFE}", _ANEW[name])
