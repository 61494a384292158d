"""Services beside models: connectors that bring documents, channels that notify, boards that show projects."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Pulled:
    """What a connector brought: paths that it saved, and targets that it could not get, each with the reason."""

    saved: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class Connector(Protocol):
    """Pulls a document from elsewhere into a project's `resources/`."""

    @property
    def name(self) -> str:
        """As in the settings, under `connectors`."""

    def takes(self, target: str) -> bool:
        """Whether this address is one of its own."""

    async def pull(self, target: str, resources: Path) -> Pulled: ...


@dataclass(frozen=True, slots=True)
class Notice:
    """What is told to a person who is not looking. One line, and never a secret."""

    project_id: str
    project_name: str
    phase: str
    event_type: str
    """convergence_success, guard_triggered, human_needed, milestone_complete or error."""
    summary: str


class Channel(Protocol):
    """A way to tell a person: ntfy, Telegram, or one of the many that a library knows."""

    @property
    def name(self) -> str: ...

    async def send(self, notice: Notice) -> None:
        """Raises a `ForgeError` where it could not be delivered."""


@dataclass(frozen=True, slots=True)
class Card:
    """A project as a board shows it."""

    project_id: str
    name: str
    phase: str
    agent: str
    directory: str
    builds_code: bool = False
    """Whether code is being built for it now: a board that can run cards starts it."""


class Board(Protocol):
    """Mirrors projects to somebody's board. A failure is a `ForgeError`, which is logged and never stops a project."""

    @property
    def name(self) -> str: ...

    async def create(self, card: Card) -> str:
        """Put a new card there; gives what the board calls it."""

    async def update(self, reference: str, card: Card) -> None: ...


@runtime_checkable
class CardRunner(Protocol):
    """A board that can run a card as well. A board without `start` only shows cards."""

    async def start(self, reference: str, card: Card) -> None:
        """Run the card, which `update` or `create` has just written. A card that runs already is left alone."""
