"""What is known of an open-source component, each figure or the reason why it is not known."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Unknown:
    """In the place of a figure that nobody told."""

    reason: str


_NOT_LOOKED_UP = Unknown("not looked up")


@dataclass(frozen=True, slots=True)
class Release:
    version: str
    published: datetime


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a component. A figure that is missing takes none of the others away."""

    releases: tuple[Release, ...] | Unknown = _NOT_LOOKED_UP
    last_commit: datetime | Unknown = _NOT_LOOKED_UP
    stars: int | Unknown = _NOT_LOOKED_UP
    weekly_downloads: int | Unknown = _NOT_LOOKED_UP
    open_issues: int | Unknown = _NOT_LOOKED_UP
    closed_issues: int | Unknown = _NOT_LOOKED_UP
    licence: str | Unknown = _NOT_LOOKED_UP
    maintainers: int | Unknown = _NOT_LOOKED_UP
    """Who may publish it."""
    active: int | Unknown = _NOT_LOOKED_UP
    """People who changed it within the last twelve months."""
    migration_guide: bool = False

    @classmethod
    def unknown(cls, reason: str) -> Facts:
        """Of a component that nothing could be found out about."""
        missing = Unknown(reason)
        return cls(missing, missing, missing, missing, missing, missing, missing, missing, missing)
