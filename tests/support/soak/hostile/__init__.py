"""Hostile surroundings, one module for each kind. `script/soak hostile` runs all parts, `--part NAME` one of them.

To add a part, put a module here with `run(folder, rounds, seed)` and name it in `PARTS`.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

PARTS: tuple[str, ...] = ("plain_git", "forged_records", "floods", "redaction")
"""Modules of this folder. They are imported when they run: each may need what no other does."""


def run_parts(folder: Path, names: Iterable[str] = PARTS, *, rounds: int | None, seed: int) -> dict[str, object]:
    """What each part reports. A part that finds a defect raises `AssertionError`."""
    found: dict[str, object] = {}
    for name in names:
        place = folder / name
        place.mkdir()
        found[name] = import_module(f"{__name__}.{name}").run(place, rounds, seed)
    return found
