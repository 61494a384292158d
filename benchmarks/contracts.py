"""Contracts: tokens of a recorded run against all prior contracts pushed into each prompt; times of check and rules.

The documents are those of a scheduling application for a clinic (`benchmarks/clinic`), written as a model writes them
and not changed for the figure. The recorded agent fetches what each contract follows from. The baseline exists only
here: one request for each contract, with the answers and all prior contracts in it, each cut at 12,000 characters and
all together at 24,000, the oldest first. No model is asked. A token is four bytes.

The parts that the agent asks for were chosen by hand and changed together with the tools: the figure shows what an
economical agent can save, not what a model does.

Input tokens are counted over all requests of a conversation, with everything that is sent again. A prompt cache would
not change much: the part that two requests share is shorter than what providers begin to cache (1,024 tokens).
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from benchmarks.timing import Figure
from forge.agents.model import OnText, Prompt
from forge.agents.recorded import RecordedModel
from forge.context.tokens import of_message, of_text
from forge.contracts import questionnaire
from forge.contracts.author import form
from forge.contracts.check import check
from forge.contracts.kinds import ORDER, Kind
from forge.contracts.material import Material
from forge.contracts.templates import template
from forge.prompts import Prompts
from forge.sessions.messages import AssistantMessage

EACH, ALTOGETHER = 12_000, 24_000
CLINIC = Path(__file__).parent / "clinic"
Calls = tuple[tuple[str, str], ...]
_INTENT, _TECHNICAL, _STORIES = "get_project_intent", "get_technical_preferences", "get_user_stories"
_FETCHED: Mapping[Kind, Calls] = {
    Kind.MANIFESTO: ((_INTENT, ""),),
    Kind.BLUEPRINT: ((_INTENT, ""), (_STORIES, ""), ("manifesto", "")),
    Kind.STACK: ((_TECHNICAL, ""), ("manifesto", "outline"), ("blueprint", "outline, Architecture")),
    Kind.SCHEMA: ((_TECHNICAL, "Data"), ("blueprint", "Features"), ("stack", "Infrastructure")),
    Kind.PHYSICS: (("schema", ""), ("blueprint", "Features"), ("stack", "Backend")),
    Kind.BOUNDARIES: (
        ("stack", "Languages, Backend, Frontend"),
        ("physics", "outline"),
        ("blueprint", "Architecture"),
    ),
    Kind.UI: (
        (_STORIES, "Users and stories, Look and feel"),
        ("blueprint", "Features"),
        ("physics", "outline"),
        ("stack", "Frontend"),
    ),
    Kind.PHASES: (
        ("blueprint", "Features"),
        *((name, "outline") for name in ("manifesto", "stack", "boundaries")),
        *((name, "ids") for name in ("schema", "physics", "ui")),
    ),
    Kind.BUILDER_DIRECTIVE: (
        (_TECHNICAL, "Technical preferences"),
        ("phases", "outline"),
        ("stack", "outline"),
        ("boundaries", "forbidden, invariants"),
    ),
}
"""What the agent asks for, besides the example of the kind: parts whole where it has to know what they say, outlines
where ids and names are enough. By the headings that its tools name, and in one answer, as it is told to."""


def contracts(root: Path) -> Iterator[Figure]:
    material = Material("ClinicDesk", {}, questionnaire.parse((CLINIC / "answers.yaml").read_text()))
    texts = {kind: (CLINIC / kind.file).read_text() for kind in ORDER}
    assert check(texts) == ()
    began = time.perf_counter()
    for _ in range(20):
        check(texts)
    size = f"nine contracts, {sum(map(len, texts.values())):,} characters"
    yield Figure("check all contracts", size, 1000 * (time.perf_counter() - began) / 20, "ms", at_most=100)
    recording = root / "contracts.jsonl"
    root.mkdir(parents=True, exist_ok=True)
    lines = list(_recorded(texts))
    recording.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    taken = asyncio.run(_run(root / "recorded", f"recorded:{recording}", material))[1]
    pushed = {kind: _pushed(kind, material, texts) for kind in ORDER}
    yield from _compared(taken, pushed, f"{len(ORDER)} contracts, {len(lines)} requests")
    seconds = asyncio.run(_run(root / "rules", "builtin", material))[0]
    yield Figure("generate nine contracts by rules", "one durable run", seconds, "s", at_most=3)


def _compared(taken: Mapping[Kind, int], pushed: Mapping[Kind, int], size: str) -> Iterator[Figure]:
    ours, theirs = sum(taken.values()), sum(pushed.values())
    assert ours > 0
    yield Figure("input tokens of a recorded run", size, ours, "tokens")
    yield Figure("the same with all prior contracts pushed", "9 contracts, 9 requests", theirs, "tokens")
    yield Figure("fewer input tokens, all contracts", "recorded run", 100 * (1 - ours / theirs), "%", at_least=60)
    last = Kind.BUILDER_DIRECTIVE
    fewer = 100 * (1 - taken[last] / pushed[last])
    yield Figure("fewer input tokens, builder_directive", "recorded run", fewer, "%", at_least=65)


def _recorded(texts: Mapping[Kind, str]) -> Iterator[dict[str, Any]]:
    for kind in ORDER:
        yield {"for": kind.value, "calls": [_call(*each) for each in ((kind.value, ""), *_FETCHED[kind])]}
        yield {"for": kind.value, "calls": [{"name": "submit_contract", "arguments": {"content": texts[kind]}}]}


def _call(name: str, part: str) -> dict[str, Any]:
    if name.startswith("get_"):
        return {"name": name, "arguments": {"sections": part.split(", ")} if part else {}}
    return {"name": "get_prior_contract", "arguments": {"contract_type": name, **({"part": part} if part else {})}}


def _pushed(kind: Kind, material: Material, texts: Mapping[Kind, str]) -> int:
    """Tokens of the one request with everything in it."""
    prior = {each: texts[each][:EACH] for each in ORDER[: ORDER.index(kind)]}
    chain = "\n\n---\n\n".join(f"## {each} (already generated)\n{text}" for each, text in prior.items())[-ALTOGETHER:]
    known = "\n\n".join((material.project_intent(), material.technical_preferences(), material.user_stories()))
    system = f"{Prompts().get('contract-author')}\n\n{form(kind)}\n\n{template(kind)}"
    return of_text(system) + of_text(f"{known}\n\n{chain}")


async def _run(place: Path, agent: str, material: Material) -> tuple[float, dict[Kind, int]]:
    from forge.app.access.identity import LOCAL  # noqa: PLC0415 - loads the engine
    from forge.app.process.workshop import open_workshop  # noqa: PLC0415
    from forge.app.projects.catalog import create  # noqa: PLC0415
    from forge.app.projects.generation import Wanted, generate_found, generation_of  # noqa: PLC0415
    from forge.app.projects.questionnaire import answer_found  # noqa: PLC0415
    from forge.settings import load  # noqa: PLC0415

    places = {"FORGE_DATA_DIR": place / "data", "FORGE_WORKSPACE": place / "workspace"}
    environ = {"PATH": os.environ["PATH"], "HOME": str(place)} | {name: str(path) for name, path in places.items()}
    async with open_workshop(load(environ), environ) as shop:
        project = await create(shop, material.name, agent="builtin")
        answer_found(shop, LOCAL, project, material.answers)
        with _Counting() as counted:
            began = time.perf_counter()
            started = await generate_found(shop, LOCAL, project, Wanted(agent=agent))
            await shop.engine.handle(started.run).result()
            seconds = time.perf_counter() - began
        seen = generation_of(shop, project)
        assert seen is not None
        assert [each.state for each in seen.contracts] == ["saved"] * len(ORDER), seen
    return seconds, counted.tokens


class _Counting:
    """Counts what each request sends: system prompt, tools and all messages so far."""

    def __init__(self) -> None:
        self.tokens: dict[Kind, int] = dict.fromkeys(ORDER, 0)
        self._answer = RecordedModel.answer

    def __enter__(self) -> Self:
        answer, tokens = self._answer, self.tokens

        async def counted(model: RecordedModel, prompt: Prompt, *, on_text: OnText) -> AssistantMessage:
            first = prompt.messages[0].text  # type: ignore[union-attr]
            listed = [[each.name, each.description, each.parameters] for each in prompt.tools]
            sent = of_text(prompt.system) + of_text(json.dumps(listed, separators=(",", ":")))
            tokens[Kind(first.split("`")[1])] += sent + sum(map(of_message, prompt.messages))
            return await answer(model, prompt, on_text=on_text)

        RecordedModel.answer = counted  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        RecordedModel.answer = self._answer  # type: ignore[method-assign]
