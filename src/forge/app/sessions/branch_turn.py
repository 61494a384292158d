"""The turn at work on a branch. Its run row says whether there is one; the reservation of the branch follows from it.

Only a crash leaves the two apart: a run whose process died before it took the branch, or a reservation whose run ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.app.repositories.catalog import subject_of
from forge.engine.errors import RunUnknown
from forge.git.refs.reservations import Reservation, release, reservation

if TYPE_CHECKING:
    from forge.app.process.workshop import Workshop
    from forge.git import Repository
    from forge.store.runs import RunRow, RunState

WORKFLOW = "turn"
_UNFINISHED: tuple[RunState, ...] = ("queued", "waiting", "running")


@dataclass(frozen=True, slots=True)
class BranchTurn:
    run: RunRow
    held: Reservation | None
    """Its reservation; None: it is about to take the branch, or has just given it back."""

    @property
    def waits_for(self) -> str:
        """Why nobody resumes it; empty where somebody does."""
        return self.run.waits_for if self.held is None or self.held.abandoned else ""

    def named(self, branch: str) -> Reservation:
        """As it is shown, also before it has taken the branch."""
        turn = self.run.id.removeprefix(run_of(""))
        return self.held or Reservation(branch, turn, "An agent", self.run.created, "")


def run_of(mark: str) -> str:
    """The run of the turn that reserves its branch under `mark`."""
    return f"turn-{mark}"


def turn_on(shop: Workshop, repo: Repository, branch: str) -> BranchTurn | None:
    """Of several, which only a crash leaves, the one that has the branch, else the one that was begun first."""
    runs = shop.engine.runs(states=_UNFINISHED, name=WORKFLOW, subject=subject_of(repo, branch))
    if not runs:
        return None
    held = reservation(repo.common_dir, branch)
    mine = next((run for run in runs if held is not None and run.id == run_of(held.holder)), None)
    return BranchTurn(mine, held) if mine is not None else BranchTurn(runs[-1], None)


def release_left_over(shop: Workshop, repo: Repository, branch: str) -> Reservation | None:
    """Release a reservation whose run has ended or is unknown, and give it."""
    held = reservation(repo.common_dir, branch)
    if held is None or is_unfinished(shop, held):
        return None
    release(repo.common_dir, branch, held.holder)
    return held


def is_unfinished(shop: Workshop, held: Reservation) -> bool:
    """Whether the turn that reserved a branch is under way, or will be resumed."""
    return unfinished_run(shop, held) is not None


def unfinished_run(shop: Workshop, held: Reservation) -> RunRow | None:
    try:
        run = shop.engine.status(run_of(held.holder))
    except RunUnknown:
        return None
    return None if run.has_ended else run
