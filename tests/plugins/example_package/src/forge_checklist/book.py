"""A channel that writes one line for each notice to a file, for people who look there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forge.errors import InvalidInput, Upstream
from forge.plugins.roles import Notice


@dataclass(frozen=True)
class Book:
    path: Path
    name: str = "book"

    async def send(self, notice: Notice) -> None:
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(f"{notice.project_name} [{notice.phase}] {notice.event_type}: {notice.summary}\n")
        except OSError as e:
            raise Upstream(f"{self.path} cannot be written: {e.strerror}.") from e


def book(settings: Mapping[str, Any]) -> Book:
    """Made from `notifications.channels.book` in the settings."""
    if not settings.get("path"):
        raise InvalidInput("Notification channel 'book' is enabled but has no path configured.")
    return Book(Path(settings["path"]))
