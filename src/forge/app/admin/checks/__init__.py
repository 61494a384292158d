"""What the doctor looks at, one module per noun; each check looks at one thing and says what it found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from forge.git import Repository
from forge.settings import Settings
from forge.store.inspection import Inspection

REPAIR = "Run `forge doctor --repair`."
_MANY = 5


class CheckState(StrEnum):
    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    state: CheckState
    detail: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the doctor was called to. `repair`: mend what can be mended; `online`: other machines may be asked."""

    directory: Path
    environ: Mapping[str, str]
    settings: Settings
    records: Inspection
    repo: Repository | None = None
    repair: bool = False
    online: bool = False


def ok(name: str, detail: str) -> Check:
    return Check(name, CheckState.OK, detail)


def warning(name: str, detail: str, hint: str) -> Check:
    return Check(name, CheckState.WARNING, detail, hint)


def failed(name: str, detail: str, hint: str) -> Check:
    return Check(name, CheckState.FAILED, detail, hint)


def some(names: Sequence[str]) -> str:
    """The first few of them, and how many more."""
    more = f" and {len(names) - _MANY} more" if len(names) > _MANY else ""
    return ", ".join(names[:_MANY]) + more
