"""The turn at work on a branch: the run row says so, whatever reservation a crash left."""

from __future__ import annotations

import asyncio

import pytest

from forge.agents.turn import TurnRequest
from forge.app.access.identity import LOCAL
from forge.app.sessions import session_access, turn_run
from forge.app.sessions.branch_turn import WORKFLOW, release_left_over, run_of, turn_on
from forge.app.sessions.messages import finish_interrupted
from forge.git.refs.reservations import BranchBusy, reservation, reserve
from forge.store.runs import Room, Runs
from forge.subjects import branch_subject
from tests.app.facade import Place, place, shop

__all__ = ["place", "shop"]

pytestmark = pytest.mark.req("G-09")


def begun(place: Place, mark: str, branch: str = "main") -> Runs:
    runs = Runs(place.shop.database)
    runs.add(run_of(mark), name=WORKFLOW, subject=branch_subject(place.id, branch), queue=None, partition=None)
    runs.enter(run_of(mark), Room())
    return runs


def working(place: Place) -> str | None:
    found = session_access.session(place.shop, LOCAL, place.id, "main").working
    return None if found is None else found.turn


def test_a_turn_is_at_work_from_its_first_row_to_its_end(place: Place) -> None:
    assert (turn_on(place.shop, place.repo, "main"), working(place)) == (None, None)
    runs = begun(place, "a1")
    assert working(place) == "a1", "begun, and the branch is not taken yet"
    held = reserve(place.repo.common_dir, "main", "a1", "builtin")
    found = turn_on(place.shop, place.repo, "main")
    assert found is not None
    assert (found.run.id, found.held) == (run_of("a1"), held)
    assert turn_on(place.shop, place.repo, "other") is None
    runs.end(run_of("a1"), "done")
    assert turn_on(place.shop, place.repo, "main") is None


def test_a_reservation_whose_run_ended_is_no_turn_and_is_released(place: Place) -> None:
    begun(place, "a1").end(run_of("a1"), "failed")
    for mark in ("a1", "unknown"):
        reserve(place.repo.common_dir, "main", mark, "builtin")
        assert working(place) is None
        assert session_access.list_sessions(place.shop, LOCAL, place.id) == ()
        asyncio.run(finish_interrupted(place.shop, place.repo, "main"))
        assert reservation(place.repo.common_dir, "main") is None


def test_the_reservation_of_a_turn_under_way_stays_and_is_in_the_way(place: Place) -> None:
    begun(place, "a1")
    place.shop.begun.add(run_of("a1"))
    held = reserve(place.repo.common_dir, "main", "a1", "builtin")
    assert release_left_over(place.shop, place.repo, "main") is None
    with pytest.raises(BranchBusy):
        asyncio.run(finish_interrupted(place.shop, place.repo, "main"))
    assert reservation(place.repo.common_dir, "main") == held


def test_of_two_turns_after_a_crash_the_one_with_the_branch_is_at_work(place: Place) -> None:
    for mark in ("a1", "a2", "a3"):
        begun(place, mark)
    assert working(place) == "a1", "the first one, while none has the branch"
    reserve(place.repo.common_dir, "main", "a2", "builtin")
    assert working(place) == "a2"


def test_a_turn_does_not_wait_for_a_reservation_that_a_crash_left(place: Place) -> None:
    begun(place, "a1")
    reserve(place.repo.common_dir, "main", "dead", "builtin")
    request = TurnRequest("a1", "main", "hello", "Ada <ada@example.org>", 0.0, "builtin")
    asyncio.run(turn_run._until_free(place.shop, place.repo, request))
    assert reserve(place.repo.common_dir, "main", "a1", "builtin").holder == "a1"
