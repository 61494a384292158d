"""Runs that are begun here and carried out by another process: who that is, and what is heard of it."""

from __future__ import annotations

from typing import Protocol


class Taker(Protocol):
    """Asked from threads, never on the loop."""

    def pid(self) -> int | None:
        """The process of this machine that is to run what is begun here, if there is one now."""

    def handed(self, run_id: str) -> None:
        """It has the run: nobody else will begin it while it lives."""

    def taken_back(self) -> None:
        """It is gone, and this process goes on with what it had."""
