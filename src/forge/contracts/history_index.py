"""What a walk through the history found, kept in a file beside the objects: a cache that a new process reads.

Each row has only the contracts that its commit changed. A file that cannot be read is as good as none.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_FILE = "forge/contract-history.json"
_FORM = 1


def read(common_dir: Path) -> tuple[str, list[Any], list[Any]] | None:
    """The commit up to which it goes, rows of changes and of confirmations, newest first."""
    try:
        found = json.loads((common_dir / _FILE).read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(found, dict) or found.get("form") != _FORM:
        return None
    tip, changes, confirmed = found.get("tip"), found.get("changes"), found.get("confirmed")
    if not isinstance(tip, str) or not isinstance(changes, list) or not isinstance(confirmed, list):
        return None
    return tip, changes, confirmed


def write(common_dir: Path, tip: str, changes: Sequence[Any], confirmed: Sequence[Any]) -> None:
    """Whole or not at all. Where nothing can be written, the next process walks again."""
    data = json.dumps(
        {"form": _FORM, "tip": tip, "changes": changes, "confirmed": confirmed}, separators=(",", ":")
    ).encode()
    path = common_dir / _FILE
    draft = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        path.parent.mkdir(exist_ok=True)
        draft.write_bytes(data)
        draft.replace(path)
    except OSError:  # a cache: a full or read-only disk costs time, nothing else
        draft.unlink(missing_ok=True)
