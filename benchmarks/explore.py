"""The explorer: tokens of the light call, a conversation of 200 turns, a cascade, and questions until a brief."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.prompts import common
from benchmarks.timing import Figure
from forge.app.admin.prompts import prompts
from forge.context.tokens import of_text
from forge.explore import brief, digest, rules, turn
from forge.explore.knowledge import Knowledge
from forge.explore.register import Register
from forge.explore.route import Route, decide
from forge.explore.toolkit import TOOLS
from forge.explore.turn import ExplorerOutcome
from forge.explore.workbench import Workbench
from forge.projects import state
from forge.settings import load
from tests.support.explored import conversation

_TURNS, _EARLY, _NEAR = 200, 10, 10
_WIDE = 1_000
_NOW = datetime(2026, 11, 2, tzinfo=UTC)
_SAID = (
    "Turn {n}: dispatchers at depot {n} type orders twice because mails come late, and {n} hours a week are lost by it."
)


def explore(root: Path) -> Iterator[Figure]:
    knowledge = Knowledge(prompts(load({})).get)
    yield _route(knowledge)
    yield from _long(knowledge)
    yield from _cascade()
    yield from _person()
    yield asyncio.run(_in_time(root / "explore"))


def _bench(values: dict[str, Any]) -> Workbench:
    return Workbench.of(state.SavedState("Depot", values), now=_NOW)


def _answered(values: dict[str, Any], decision: Any, knowledge: Knowledge, text: str, number: int) -> dict[str, Any]:
    """The values after the built-in engine answered, with its answer."""
    bench = _bench(values)
    turn.begin(bench, decision)
    reply, probe = rules.respond(bench, decision, knowledge, text, first=number == 1)
    now = _bench(values)
    answer = turn.finish(now, ExplorerOutcome(decision, tuple(bench.calls), reply, text, number, (), probe))
    saved = now.saved()
    return {**saved, "messages": [*saved["messages"], {"role": "assistant", "content": answer.text}]}


def _route(knowledge: Knowledge) -> Figure:
    """Without the register and the last turns, which are the person's own words."""
    values = {**state.defaults(), "messages": [{"role": "user", "content": "x"}]}
    material = turn.route_material(_bench(values), knowledge, "")
    material["state"].pop("register")
    material.pop("last_turns")
    tokens = of_text(knowledge.route + json.dumps(material, ensure_ascii=False))
    return Figure("light call of the explorer", "beside register and last turns", tokens, "tokens", at_most=1_200)


def _long(knowledge: Knowledge) -> Iterator[Figure]:
    """In one mode: what the heavy call sends at each turn."""
    tools = json.dumps([[each.name, each.description, each.parameters] for each in TOOLS.values()])
    values: dict[str, Any] = {**state.defaults(), "active_mode": "discover", "messages": []}
    sent: list[bytes] = []
    for number in range(1, _TURNS + 1):
        text = _SAID.format(n=number)
        values["messages"] = [*values["messages"], {"role": "user", "content": text}]
        bench = _bench(values)
        decision = decide(Route(mode="discover"), bench, knowledge, text)
        messages = values["messages"]
        spoken = digest.spoken(messages)[digest.window(messages) :]
        whole = [tools, knowledge.system("discover"), *(each for _, each in spoken)]
        sent.append("\n".join([*whole, turn.block(bench, decision, knowledge)]).encode())
        values = _answered(values, decision, knowledge, text, number)
    pairs = list(pairwise(sent))
    shared = [(common(a, b), len(a)) for a, b in pairs]
    largest = max(of_text(each.decode()) for each in sent)
    part = 100 * sum(both for both, _ in shared) / sum(before for _, before in shared)
    late = 100 * sum(both for both, _ in shared[_NEAR:]) / sum(before for _, before in shared[_NEAR:])
    size = f"{_TURNS} turns in one mode"
    yield Figure("largest prompt of an exploration", size, largest, "tokens", at_most=40_000)
    yield Figure("bytes of a request of the explorer that the next one begins with", size, part, "%", at_least=97)
    yield Figure("the same after ten turns of the explorer", size, late, "%")


def _cascade() -> Iterator[Figure]:
    register = Register()
    for number in range(1, _WIDE + 1):
        register, _ = register.added(f"claim {number}", depends_on=[f"A{number - 1}"] if number > 1 else [])
    times = []
    for _ in range(20):
        began = time.process_time()
        _, shaken = register.with_status("A1", "invalidated")
        times.append(time.process_time() - began)
    assert len(shaken) == _WIDE - 1
    yield Figure(
        "collapse of an assumption",
        f"{_WIDE} in a chain, processor time",
        statistics.median(times) * 1e3,
        "ms",
        at_most=50,
    )


def _person() -> Iterator[Figure]:
    _, values = conversation()
    assert values["latest_artifact"], "the person reached no brief"
    asked, written = values["routing_context"]["questions_asked"], brief.words(values["latest_artifact"])
    yield Figure("questions until a problem brief", "a scripted person, by rules", asked, "questions", at_most=15)
    yield Figure("words of that brief", "one page", written, "words", at_most=brief.MOST_WORDS)


async def _in_time(place: Path) -> Figure:
    """Whole durable turns of the built-in engine: the last ones against the first ones of one conversation."""
    from forge.app.process.workshop import open_workshop  # noqa: PLC0415 - loads the engine
    from forge.app.projects.catalog import create  # noqa: PLC0415
    from forge.app.projects.exploration import answer  # noqa: PLC0415
    from forge.app.projects.messages import say  # noqa: PLC0415

    place.mkdir(parents=True, exist_ok=True)
    (place / "config.yaml").touch()
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(place),
        "FORGE_DATA_DIR": str(place / "data"),
        "FORGE_CONFIG": str(place / "config.yaml"),
        "FORGE_WORKSPACE": str(place / "workspace"),
    }
    times: list[float] = []
    async with open_workshop(load(environ), environ) as shop:
        project = await create(shop, "Depot", agent="builtin")
        for number in range(1, _TURNS + 1):
            await say(shop, project, _SAID.format(n=number), about="problem" if number == 1 else None)
            began = time.perf_counter()
            run = await answer(shop, project)
            assert run is not None
            await shop.engine.handle(run).result()
            times.append(time.perf_counter() - began)
    early = statistics.median(times[_EARLY - 5 : _EARLY + _NEAR - 5])
    late = statistics.median(times[-_NEAR:])
    size = f"medians of {_NEAR}: {early * 1e3:.0f} ms, {late * 1e3:.0f} ms"
    return Figure("turn 200 of an exploration against turn 10", size, late / early, "times", at_most=1.2)
