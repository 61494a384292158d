"""Who listens in one process, and what they are told of events that another one recorded."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from forge.events import BranchChanged, to_json
from forge.store.listeners import Listener, Listeners, Recorded

pytestmark = [pytest.mark.asyncio, pytest.mark.req("X-05")]


class Reader:
    """Stands for the database: gives events by their ids, and notes what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int, int]] = []

    def __call__(self, topic: str, after: int, last: int) -> Sequence[Recorded]:
        self.asked.append((topic, after, last))
        return [recorded(number) for number in range(after + 1, last + 1)]


def recorded(number: int) -> Recorded:
    return Recorded.read(number, 0.0, json.dumps(to_json(BranchChanged("b", str(number), "somebody"))))


async def test_what_another_process_recorded_is_read_once_for_all_listeners() -> None:
    listeners, read = Listeners(), Reader()
    several = [Listener() for _ in range(3)]
    for each in several:
        listeners.add("t", each)
    listeners.grown("t", 5, read)
    assert [await each.take() for each in several] == [(5,)] * 3, "how far they are, each of them knows itself"
    assert read.asked == []
    listeners.grown("t", 7, read)
    assert [await each.take() for each in several] == [(recorded(6), recorded(7))] * 3
    listeners.grown("t", 7, read)
    assert read.asked == [("t", 5, 7)]


async def test_many_that_are_missing_are_left_to_each_listener() -> None:
    listeners, read, one = Listeners(), Reader(), Listener()
    listeners.add("t", one)
    listeners.push("t", recorded(1))
    listeners.grown("t", 5_000, read)
    assert await one.take() == (recorded(1), 5_000)
    assert read.asked == []


async def test_what_nobody_listens_to_is_neither_read_nor_remembered() -> None:
    listeners, read = Listeners(), Reader()
    for last in (1, 2):
        listeners.grown("t", last, read)
    assert read.asked == []
    late = Listener()
    listeners.add("t", late)
    listeners.grown("t", 3, read)
    assert await late.take() == (3,)
