"""Runs in one process: steps, errors, questions, cancelling, queues and events."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest
from dbos import DBOS
from sqlalchemy import select

from forge.engine.engine import Engine
from forge.engine.errors import (
    EngineMisused,
    NotJson,
    QueueUnknown,
    RunCancelled,
    RunExists,
    RunFailed,
    RunNameUnknown,
    RunUnknown,
    StepFailed,
)
from forge.engine.run import Run
from forge.engine.run_tables import engine_for_runs
from forge.errors import Denied
from forge.events import BranchChanged, QuestionAsked, QuestionClosed, TextStreamed
from forge.store.database import Database
from forge.store.errors import QuestionIsClosed, QuestionUnknown
from forge.store.runs import Room, Runs, RunState
from forge.subjects import branch_subject, project_subject
from tests.engine.conftest import ON_BOTH, StartEngine

Json = dict[str, Any]
pytestmark = pytest.mark.asyncio


class Refused(Denied):
    code = "refused_in_test"


async def until(condition: Any) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.005)


async def give(value: Any) -> Any:
    return value


@ON_BOTH
async def test_a_run_gives_back_what_its_workflow_returns(start_engine: StartEngine) -> None:
    async def workflow(run: Run, arguments: Json) -> Any:
        return [await run.step("double", lambda: give((arguments["n"] * 2, "text"))), run.id]

    engine: Engine = await start_engine({"w": workflow})
    handle = await engine.start_run("w", {"n": 4}, run_id="mine")
    assert await handle.result() == [[8, "text"], "mine"]
    status = engine.status("mine")
    assert (status.state, status.name, status.has_ended, status.subject.topic) == ("done", "w", True, "run:mine")
    assert [row.id for row in engine.runs(states=["done"])] == ["mine"]


@pytest.mark.req("X-04")
async def test_the_same_id_is_the_same_run(start_engine: StartEngine) -> None:
    done: list[int] = []

    async def workflow(run: Run, arguments: Json) -> int:
        done.append(1)
        return await run.step("one", lambda: give(arguments["n"]))  # type: ignore[no-any-return]

    async def other(run: Run, arguments: Json) -> None:
        return None

    engine: Engine = await start_engine({"w": workflow, "other": other})
    handles = await asyncio.gather(*(engine.start_run("w", {"n": n}, run_id="x") for n in range(5)))
    results = [await handle.result() for handle in handles]
    assert len(set(results)) == 1
    assert len(done) == 1
    with pytest.raises(RunExists):
        await engine.start_run("other", {}, run_id="x")


async def test_errors_keep_their_class_code_and_hint(start_engine: StartEngine) -> None:
    async def refuse() -> None:
        raise Refused("no", hint="ask again")

    async def workflow(run: Run, arguments: Json) -> Any:
        await run.step("refuse", refuse)

    async def defect(run: Run, arguments: Json) -> Any:
        try:
            await run.step("divide", lambda: give(1 / 0))
        except StepFailed as error:
            raise KeyError(str(error)) from error

    engine: Engine = await start_engine({"w": workflow, "defect": defect})
    with pytest.raises(Refused, match="no") as caught:
        await (await engine.start_run("w", {})).result()
    assert caught.value.hint == "ask again"
    with pytest.raises(RunFailed, match="ZeroDivisionError"):
        await (await engine.start_run("defect", {}, run_id="d")).result()
    assert engine.status("d").state == "failed"


async def test_what_cannot_be_recorded_is_refused_at_once(start_engine: StartEngine) -> None:
    async def workflow(run: Run, arguments: Json) -> Any:
        return await run.step("object", lambda: give(object()))

    engine: Engine = await start_engine({"w": workflow})
    with pytest.raises(NotJson):
        await engine.start_run("w", {"x": object()})
    with pytest.raises(NotJson, match="step object"):
        await (await engine.start_run("w", {})).result()


@ON_BOTH
async def test_a_question_is_answered_once(start_engine: StartEngine) -> None:
    async def workflow(run: Run, arguments: Json) -> Any:
        reply = await run.ask("which?", ["a", "b"])
        return [reply.how, reply.text]

    engine: Engine = await start_engine({"w": workflow})
    handle = await engine.start_run("w", {}, run_id="r")
    await until(engine.open_questions)
    (question,) = engine.open_questions(run_id="r")
    assert (question.text, question.options, question.expires) == ("which?", ("a", "b"), None)
    assert await engine.answer(question.id, "a") is True
    assert await engine.answer(question.id, "a") is False
    with pytest.raises(QuestionIsClosed, match="answered"):
        await engine.answer(question.id, "b")
    with pytest.raises(QuestionUnknown):
        await engine.answer("nothing", "b")
    assert await handle.result() == ["answered", "a"]
    said = [item.event for item in engine.events.after("run:r")]
    assert said == [
        QuestionAsked(question.id, "r", "which?", ("a", "b"), None),
        QuestionClosed(question.id, "r", "answered", "a"),
    ]


async def test_a_question_times_out_or_is_withdrawn(start_engine: StartEngine) -> None:
    async def workflow(run: Run, arguments: Json) -> Any:
        first = await run.ask("soon?", timeout=0.2)
        second = await run.ask("never mind?", timeout=60)
        return [first.how, second.how]

    engine: Engine = await start_engine({"w": workflow})
    handle = await engine.start_run("w", {}, run_id="r")
    await until(lambda: [q for q in engine.open_questions() if q.id == "r.q2"])
    with pytest.raises(QuestionIsClosed, match="timed out"):
        await engine.answer("r.q1", "late")
    assert await engine.withdraw("r.q2")
    assert await handle.result() == ["timed_out", "cancelled"]


@pytest.mark.req("X-04")
@ON_BOTH
async def test_cancelling_ends_the_step_and_lets_the_workflow_clean_up(start_engine: StartEngine) -> None:
    what: list[str] = []

    async def long() -> None:
        try:
            what.append("begun")
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            what.append("interrupted")
            raise

    async def workflow(run: Run, arguments: Json) -> Any:
        try:
            await run.step("long", long)
        except RunCancelled:
            await run.step("clean up", lambda: give(what.append("clean")))
            raise

    engine: Engine = await start_engine({"w": workflow})
    handle = await engine.start_run("w", {}, run_id="r")
    await until(lambda: what)
    began = time.monotonic()
    await engine.cancel("r")
    with pytest.raises(RunCancelled):
        await handle.result()
    assert time.monotonic() - began < 5
    assert what == ["begun", "interrupted", "clean"]
    assert engine.status("r").state == "cancelled"
    assert (await engine.cancel("r")).state == "cancelled"
    with pytest.raises(RunUnknown):
        await engine.cancel("unknown")


async def test_cancelling_wakes_a_run_that_waits_for_an_answer(start_engine: StartEngine) -> None:
    async def workflow(run: Run, arguments: Json) -> Any:
        await run.ask("which?")

    engine: Engine = await start_engine({"w": workflow})
    handle = await engine.start_run("w", {}, run_id="r")
    await until(engine.open_questions)
    await engine.cancel("r")
    with pytest.raises(RunCancelled):
        await handle.result()
    with pytest.raises(QuestionIsClosed, match="cancelled"):
        await engine.answer("r.q1", "a")
    last = engine.events.after("run:r")[-1].event
    assert last == QuestionClosed("r.q1", "r", "cancelled", None)


async def test_events_of_a_run_come_in_order_and_once(start_engine: StartEngine) -> None:
    async def workflow(run: Run, arguments: Json) -> Any:
        async def speak() -> None:
            run.emit(TextStreamed("t", "live"))
            run.emit(BranchChanged("inside", None, "x"))

        run.emit(BranchChanged("before", None, "x"))
        await run.step("speak", speak)
        run.emit(BranchChanged("after", None, "x"))
        run.emit(BranchChanged("elsewhere", None, "x"), topic="other")

    engine: Engine = await start_engine({"w": workflow})
    await (await engine.start_run("w", {}, subject=project_subject("t"))).result()
    branches = [item.event.branch for item in engine.events.after("project:t") if isinstance(item.event, BranchChanged)]
    assert branches == ["before", "inside", "after"]
    assert engine.events.last("other") == 1


@pytest.mark.req("G-09")
@pytest.mark.parametrize("serve", [True, False])
@ON_BOTH
async def test_a_branch_has_one_job_and_branches_run_side_by_side(start_engine: StartEngine, serve: bool) -> None:
    running: list[str] = []
    most: dict[str, int] = {}
    together: set[tuple[str, ...]] = set()

    async def workflow(run: Run, arguments: Json) -> None:
        async def work() -> None:
            running.append(arguments["branch"])
            most[arguments["branch"]] = max(most.get(arguments["branch"], 0), running.count(arguments["branch"]))
            together.add(tuple(sorted(set(running))))
            await asyncio.sleep(0.3)
            running.remove(arguments["branch"])

        await run.step("work", work)

    engine: Engine = await start_engine({"w": workflow}, serve=serve)
    jobs = [("a", 0), ("a", 1), ("b", 0), ("a", 2), ("b", 1)]
    handles = [
        await engine.enqueue("branches", "w", {"branch": branch}, run_id=f"{branch}{n}", partition=branch)
        for branch, n in jobs
    ]
    await asyncio.gather(*(handle.result() for handle in handles))
    assert most == {"a": 1, "b": 1}
    assert ("a", "b") in together
    started = {row.id: row.started or 0.0 for row in engine.runs()}
    assert started["a0"] < started["a1"] < started["a2"]


@pytest.mark.req("G-09")
@ON_BOTH
async def test_long_runs_are_limited_and_a_queued_one_can_be_cancelled(start_engine: StartEngine) -> None:
    gate = asyncio.Event()
    running: list[str] = []

    async def workflow(run: Run, arguments: Json) -> None:
        async def work() -> None:
            running.append(run.id)
            await gate.wait()

        await run.step("work", work)

    engine: Engine = await start_engine({"w": workflow}, serve=True, max_runs=2)
    handles = [await engine.enqueue("runs", "w", {}, run_id=str(n)) for n in range(4)]
    await until(lambda: len(running) == 2)
    await asyncio.sleep(0.5)
    assert len(running) == 2
    waiting = next(row.id for row in engine.runs() if row.id not in running)
    await engine.cancel(waiting)
    with pytest.raises(RunCancelled):
        await engine.handle(waiting).result()
    gate.set()
    await asyncio.gather(*(handle.result() for handle in handles if handle.id != waiting))
    assert len(running) == 3
    assert waiting not in running


@pytest.mark.req("P-19")
@ON_BOTH
async def test_a_run_that_waited_when_its_process_ended_blocks_nobody(start_engine: StartEngine) -> None:
    gate = asyncio.Event()

    async def workflow(run: Run, arguments: Json) -> None:
        await run.step("work", gate.wait)

    first: Engine = await start_engine({"w": workflow}, max_runs=1)
    for name, state in (("one", "running"), ("two", "waiting")):
        await first.enqueue("runs", "w", {}, run_id=name)
        await until(lambda name=name, state=state: first.status(name).state == state)
    await first.close()
    second: Engine = await start_engine({"w": workflow}, max_runs=1)
    second.take_over("one")
    gate.set()
    await second.handle("one").result()
    late = await second.enqueue("runs", "w", {}, run_id="three")
    async with asyncio.timeout(10):
        await late.result()
    assert second.status("two").state == "queued"


@ON_BOTH
async def test_what_is_being_noted_while_a_process_ends_does_not_come_after_its_end(
    start_engine: StartEngine, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that is noted as waiting by a process that is gone would block its queue for ever."""
    late, noting, enter = threading.Event(), threading.Event(), Runs.enter

    def slowly(runs: Runs, id_: str, room: Room) -> RunState:
        if late.is_set() and id_ == "two":
            noting.set()
            time.sleep(0.3)
        return enter(runs, id_, room)

    async def workflow(run: Run, arguments: Json) -> None:
        await run.step("work", asyncio.Event().wait)

    monkeypatch.setattr(Runs, "enter", slowly)
    engine: Engine = await start_engine({"w": workflow}, max_runs=1)
    for name, state in (("one", "running"), ("two", "waiting")):
        await engine.enqueue("runs", "w", {}, run_id=name)
        await until(lambda name=name, state=state: engine.status(name).state == state)
    late.set()
    await until(noting.is_set)
    await engine.close()
    await asyncio.sleep(0.5)
    found = Runs(database).get("two")
    assert found is not None
    assert found.state == "queued"


async def test_what_is_not_there_is_named(start_engine: StartEngine, database: Database) -> None:
    async def workflow(run: Run, arguments: Json) -> None:
        return None

    engine: Engine = await start_engine({"w": workflow})
    with pytest.raises(RunNameUnknown):
        await engine.start_run("x", {})
    with pytest.raises(QueueUnknown):
        await engine.enqueue("nowhere", "w", {})
    with pytest.raises(QueueUnknown, match="partition"):
        await engine.enqueue("branches", "w", {})
    with pytest.raises(RunUnknown):
        engine.status("x")
    with pytest.raises(RunUnknown):
        await engine.handle("x").result()
    with pytest.raises(EngineMisused):
        engine.register("late", workflow)
    with pytest.raises(EngineMisused):
        await Engine(database).start()


@pytest.mark.req("X-04")
@ON_BOTH
async def test_closing_leaves_a_run_to_be_resumed(start_engine: StartEngine, database: Database) -> None:
    did: list[str] = []
    go_on = asyncio.Event()

    async def workflow(run: Run, arguments: Json) -> Any:
        async def first() -> str:
            did.append("first")
            return "one"

        async def second() -> str:
            did.append("second")
            await go_on.wait()
            return "two"

        return [await run.step("first", first), await run.step("second", second)]

    engine: Engine = await start_engine({"w": workflow})
    await engine.start_run("w", {}, run_id="r")
    await until(lambda: "second" in did)
    await engine.close()
    go_on.set()
    again: Engine = await start_engine({"w": workflow})
    again.take_over("r")
    assert again.status("r").state in ("running", "done")
    assert await again.handle("r").result() == ["one", "two"]
    assert did == ["first", "second", "second"]


async def test_a_patched_place_tells_old_runs_from_new(start_engine: StartEngine) -> None:
    async def workflow(run: Run, arguments: Json) -> Any:
        return await run.patched("greeting")

    engine: Engine = await start_engine({"w": workflow})
    assert await (await engine.start_run("w", {})).result() is True


async def test_who_is_on_another_loop_goes_through_the_engines_own(start_engine: StartEngine) -> None:
    ran_on: list[asyncio.AbstractEventLoop] = []

    async def workflow(run: Run, arguments: Json) -> str:
        ran_on.append(asyncio.get_running_loop())
        return await run.step("answer", lambda: give(arguments["text"]))  # type: ignore[no-any-return]

    engine: Engine = await start_engine({"w": workflow})

    async def elsewhere() -> Any:
        for begun in (
            engine.start_run("w", {"text": "no"}),
            engine.cancel("any"),
            engine.answer("any", "yes"),
            engine.withdraw("any"),
        ):
            with pytest.raises(EngineMisused):
                await begun
        return await engine.at_work(_started_and_ended(engine))

    assert await asyncio.to_thread(asyncio.run, elsewhere()) == "yes"
    assert await engine.at_work(_started_and_ended(engine)) == "yes"
    assert ran_on == [asyncio.get_running_loop()] * 2


async def _started_and_ended(engine: Engine) -> Any:
    return await (await engine.start_run("w", {"text": "yes"})).result()


@ON_BOTH
@pytest.mark.req("X-04")
async def test_steps_of_runs_that_ended_long_ago_go_and_their_ids_begin_nothing_again(
    start_engine: StartEngine, database: Database
) -> None:
    done: list[str] = []
    goes_on = asyncio.Event()

    async def workflow(run: Run, arguments: Json) -> str:
        del arguments
        done.append(await run.step("one", lambda: give(run.id)))
        if run.id == "open":
            await goes_on.wait()
        return run.id

    engine: Engine = await start_engine({"w": workflow})
    for name in ("a", "b"):
        assert await (await engine.start_run("w", {}, run_id=name)).result() == name
    waiting = await engine.start_run("w", {}, run_id="open")
    await until(lambda: "open" in done)
    now = time.time()
    assert list(await asyncio.to_thread(lambda: list(engine.forget_steps(now - 60)))) == []
    # The two records of an end are written one after the other.
    await until(lambda: sum(engine.forget_steps(now + 60)) == 0 and _recorded(database) == {"open"})
    assert await (await engine.start_run("w", {}, run_id="a")).result() == "a"
    assert done == ["a", "b", "open"]
    goes_on.set()
    assert await waiting.result() == "open"


def _recorded(database: Database) -> set[str]:
    from dbos._schemas.system_database import SystemSchema  # noqa: PLC0415 - as the engine has it loaded

    schema = {"__dbos_placeholder_schema__": None if database.is_sqlite else "dbos"}
    engine = engine_for_runs(database)
    try:
        with engine.connect() as connection:
            named = connection.execution_options(schema_translate_map=schema)
            return set(named.execute(select(SystemSchema.operation_outputs.c.workflow_uuid)).scalars())
    finally:
        engine.dispose()


async def test_steps_of_two_loops_have_names_of_their_own(start_engine: StartEngine) -> None:
    async def work(run: Run, arguments: dict[str, Any]) -> dict[str, Any]:
        async def value() -> str:
            return "done"

        scoped = run.scoped("contract/blueprint")
        inner = scoped.scoped("audit")
        with pytest.raises(EngineMisused, match="used twice"):
            run.scoped("contract/blueprint")
        for name in ("", "/a", "a/", "A", "a b", "a" * 121):
            with pytest.raises(EngineMisused, match="cannot be a scope"):
                run.scoped(name)
        return {"done": [await each.step("model 1", value) for each in (run, scoped, inner)], "scope": inner.scope}

    engine = await start_engine({"work": work})
    run = await engine.start_run("work", {}, run_id="scopes")
    assert await run.result() == {"done": ["done"] * 3, "scope": "contract/blueprint/audit"}
    steps = await DBOS.list_workflow_steps_async("scopes")
    named = [step["function_name"] for step in steps]
    assert named == ["model 1", "contract/blueprint/model 1", "contract/blueprint/audit/model 1"]


@pytest.mark.req("X-02")
async def test_a_run_that_an_earlier_version_began_has_the_subject_of_its_topic(start_engine: StartEngine) -> None:
    async def workflow(run: Run, arguments: Json) -> str:
        del arguments
        return run.subject.topic

    engine: Engine = await start_engine({"w": workflow})
    payload = {"arguments": {}, "topic": "branch:0a1b2c3d4e5f:main", "queue": None, "partition": None}
    await engine._here.durable.start("w", "old", payload)
    await until(lambda: any(run.has_ended for run in engine.runs()))
    assert await engine.result("old") == "branch:0a1b2c3d4e5f:main"
    assert engine.status("old").subject == branch_subject("0a1b2c3d4e5f", "main")
