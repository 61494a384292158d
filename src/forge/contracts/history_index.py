"""What a walk through the history found, kept in a file beside the objects: a cache that a new process reads.

Its first line is the head, which is all that most readers need; the second one has a row for each change, with only the
contracts that its commit changed. A file that cannot be read is as good as none.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FILE = "forge/contract-history.json"
_FORM = 2


@dataclass(frozen=True, slots=True)
class Index:
    """`tip` is the commit up to which it goes."""

    tip: str
    head: list[Any]
    _rest: bytes

    def rows(self) -> tuple[list[Any], list[Any]]:
        """Rows of changes and of confirmations, newest first; `ValueError` where they are damaged."""
        found = json.loads(self._rest)
        changes, confirmed = found
        return changes, confirmed


def read(common_dir: Path) -> Index | None:
    try:
        first, _, rest = (common_dir / _FILE).read_bytes().partition(b"\n")
        found = json.loads(first)
    except (OSError, ValueError):
        return None
    if not isinstance(found, dict) or found.get("form") != _FORM:
        return None
    tip, head = found.get("tip"), found.get("head")
    return Index(tip, head, rest) if isinstance(tip, str) and isinstance(head, list) else None


def write(common_dir: Path, tip: str, head: Sequence[Any], rows: tuple[Sequence[Any], Sequence[Any]]) -> None:
    """Whole or not at all. Where nothing can be written, the next process walks again."""
    lines = ({"form": _FORM, "tip": tip, "head": head}, rows)
    data = "\n".join(json.dumps(each, separators=(",", ":")) for each in lines).encode()
    path = common_dir / _FILE
    draft = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        path.parent.mkdir(exist_ok=True)
        draft.write_bytes(data)
        draft.replace(path)
    except OSError:  # a cache: a full or read-only disk costs time, nothing else
        draft.unlink(missing_ok=True)
