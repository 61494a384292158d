"""The thread that publishes: what is recorded goes at once, live pieces wait for others of their kind."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator, Sequence

import pytest

from forge.events import BranchChanged, TextStreamed
from forge.store.events import Publication
from forge.store.publisher import Publisher


class Press:
    """Notes what is published, and when."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.times: dict[str, float] = {}
        self.changed = threading.Condition()

    def __call__(self, publications: Sequence[Publication]) -> list[int]:
        with self.changed:
            for each in publications:
                self.told.append(each.data)
                self.times[each.data] = time.monotonic()
            self.changed.notify_all()
        return [0] * len(publications)

    def until(self, *names: str) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: set(names) <= set(self.told), timeout=10), self.told


@pytest.fixture
def press() -> Press:
    return Press()


@pytest.fixture
def publisher(press: Press) -> Iterator[Publisher]:
    made = Publisher(press)
    yield made
    made.close()


def piece(topic: str, name: str) -> Publication:
    return Publication(topic, TextStreamed("turn", name), name, None)


def record(topic: str, name: str) -> Publication:
    return Publication(topic, BranchChanged("b", "c" * 40, name), name, None)


def test_what_is_recorded_takes_along_the_pieces_of_its_topic_and_no_others(publisher: Publisher, press: Press) -> None:
    began = time.monotonic()
    for each in (piece("a", "a1"), piece("b", "b1"), piece("a", "a2"), record("a", "a3"), piece("a", "a4")):
        publisher.put(each)
    press.until("a1", "a2", "a3", "a4", "b1")
    assert [name for name in press.told if name.startswith("a")] == ["a1", "a2", "a3", "a4"]
    assert press.times["a3"] - began < press.times["b1"] - began
    assert press.times["b1"] - began > 0.04, "it waited for more"


def test_the_more_topics_have_pieces_the_longer_each_waits_for_more(publisher: Publisher, press: Press) -> None:
    names = [f"t{number}" for number in range(20)]
    began = time.monotonic()
    for _ in range(2):
        for name in names:
            publisher.put(piece(name, name))
    press.until(*names)
    assert press.told == [each for name in names for each in (name, name)]
    assert press.times["t19"] - began > 0.2
    apart = [press.times[after] - press.times[before] for before, after in itertools.pairwise(names)]
    assert min(apart) > 0.002, "who asks something meanwhile waits for the clients of one topic"


@pytest.mark.asyncio
async def test_a_flush_waits_for_what_is_recorded_only(publisher: Publisher, press: Press) -> None:
    publisher.put(piece("a", "a1"))
    publisher.put(record("b", "b1"))
    await publisher.flush()
    assert press.told[0] == "b1"
    press.until("a1")


def test_pieces_wait_no_longer_because_others_are_recorded(publisher: Publisher, press: Press) -> None:
    publisher.put(piece("a", "a1"))
    began = time.monotonic()
    number = 0
    while "a1" not in press.told:
        number += 1
        publisher.put(record("b", f"b{number}"))
        time.sleep(0.005)
        assert time.monotonic() - began < 5
    assert press.told.index("a1") > 0


def test_closing_publishes_everything(press: Press) -> None:
    publisher = Publisher(press)
    for each in (piece("a", "a1"), record("b", "b1"), piece("a", "a2")):
        publisher.put(each)
    publisher.close()
    assert sorted(press.told) == ["a1", "a2", "b1"]


def test_a_thread_that_could_not_be_begun_is_begun_by_the_next_one(
    publisher: Publisher, press: Press, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as away:
        away.setattr(threading.Thread, "start", full)
        with pytest.raises(RuntimeError):
            publisher.put(record("t", "first"))
    publisher.put(record("t", "second"))
    press.until("first", "second")
    assert press.told == ["first", "second"]
