"""Rows that several processes fight over: questions are closed once, leases die once, queues are never overfull."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from forge.store.database import Database
from forge.store.errors import QuestionUnknown
from forge.store.leases import Lease, Leases
from forge.store.questions import Questions
from forge.store.runs import Room, Runs
from forge.subjects import project_subject

SUBJECT = project_subject("p1")


@pytest.mark.req("X-04")
def test_of_many_answers_one_counts(database: Database) -> None:
    questions = Questions(database)
    questions.ask("q", run="r", text="which?", options=("a", "b"))
    with ThreadPoolExecutor(8) as pool:
        counted = list(pool.map(lambda n: questions.close("q", "answered", answer=str(n)), range(8)))
    assert counted.count(True) == 1
    assert questions.get("q").answer == str(counted.index(True))
    assert questions.closed_among(["q", "other"]) == {"q"}
    assert questions.list_open() == ()


@pytest.mark.req("X-04")
def test_a_question_asked_again_keeps_its_deadline(database: Database) -> None:
    questions = Questions(database)
    first = questions.ask("q", run="r", text="which?", timeout=60)
    time.sleep(0.02)
    assert questions.ask("q", run="r", text="which?", timeout=60) == first
    assert questions.list_open(run="r") == (first,)
    assert questions.list_open(run="other") == ()


def test_an_answer_after_the_deadline_does_not_count(database: Database) -> None:
    questions = Questions(database)
    questions.ask("q", run="r", text="which?", timeout=-1)
    assert not questions.close("q", "answered", answer="late")
    assert questions.close("q", "timed_out")


def test_a_question_that_was_never_asked_is_unknown(database: Database) -> None:
    with pytest.raises(QuestionUnknown):
        Questions(database).get("nothing")


@pytest.mark.req("X-05")
def test_a_lease_that_was_declared_dead_cannot_be_kept(database: Database) -> None:
    leases = Leases(database)
    leases.take(Lease("w", "host", "machine", 1, "start", 0, True))
    before = leases.list()[0]
    assert leases.beat("w")
    assert not leases.declare_dead(before), "it has beaten since"
    assert leases.declare_dead(leases.list()[0])
    assert not leases.beat("w")
    assert leases.declare_dead(before), "whoever looks later learns the same"
    leases.drop("w")
    assert leases.list() == ()


@pytest.mark.req("G-09")
def test_a_branch_has_one_run_at_a_time_in_the_order_they_came(database: Database) -> None:
    runs, room = Runs(database), Room(partition_limit=1)
    for id_, branch in (("a", "x"), ("b", "x"), ("c", "x"), ("d", "y")):
        runs.add(id_, name="turn", subject=SUBJECT, queue="branches", partition=branch)
    assert runs.enter("b", room) == "waiting", "a was asked for first, though its process is slower"
    assert runs.enter("a", room) == "running"
    assert runs.enter("a", room) == "running", "who is in stays in, as after a crash"
    assert runs.enter("c", room) == "waiting"
    assert runs.enter("d", room) == "running"
    runs.end("a", "done")
    assert runs.enter("c", room) == "waiting", "b came first"
    assert runs.enter("b", room) == "running"


@pytest.mark.req("G-09")
def test_a_queue_takes_no_more_than_its_limit_however_many_push(database: Database) -> None:
    runs, room = Runs(database), Room(limit=3)
    for number in range(12):
        runs.add(str(number), name="run", subject=SUBJECT, queue="runs", partition=None)
    with ThreadPoolExecutor(6) as pool:
        states = list(pool.map(lambda n: runs.enter(str(n), room), range(12)))
    assert states.count("running") <= 3
    entered = [runs.enter(str(number), room) for number in range(12)]
    assert entered.count("running") == 3


@pytest.mark.req("X-04")
def test_a_run_ends_once(database: Database) -> None:
    runs = Runs(database)
    runs.add("a", name="turn", subject=SUBJECT, queue=None, partition=None)
    runs.add("a", name="turn", subject=SUBJECT, queue=None, partition=None)
    runs.end("a", "done", result={"n": 1})
    runs.end("a", "failed", error={"class": "x:y", "message": ""})
    row = runs.get("a")
    assert row is not None
    assert (row.state, row.result, row.error) == ("done", {"n": 1}, None)
    assert runs.request_cancel("a", {}) == "done"
    assert [row.id for row in runs.list(states=["done"])] == ["a"]
    assert runs.list(name="other") == ()


def test_only_a_run_that_nobody_has_ends_by_being_cancelled(database: Database) -> None:
    runs = Runs(database)
    for id_ in ("queued", "running"):
        runs.add(id_, name="turn", subject=SUBJECT, queue=None, partition=None)
    runs.enter("running", Room())
    assert runs.request_cancel("queued", {}) == "cancelled"
    assert runs.enter("queued", Room()) == "cancelled"
    assert runs.request_cancel("running", {}) == "running"
    assert runs.request_cancel("unknown", {}) is None
    assert runs.cancel_requested(["running", "queued", "unknown"]) == {"running", "queued"}


@pytest.mark.req("P-19", "X-04")
def test_nobody_waits_behind_a_run_whose_process_is_gone(database: Database) -> None:
    runs, room = Runs(database), Room(limit=1)
    for name in ("first", "second", "third"):
        runs.add(name, name="w", subject=SUBJECT, queue="runs", partition=None)
    assert [runs.enter(name, room) for name in ("first", "second", "third")] == ["running", "waiting", "waiting"]
    runs.end("first", "done")
    assert runs.enter("third", room) == "waiting", "the second was there before"
    runs.step_aside(["second"])
    assert runs.enter("third", room) == "running"
    assert runs.enter("second", room) == "waiting", "whoever goes on with it waits like everybody"
