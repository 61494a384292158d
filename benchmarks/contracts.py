"""Contracts: tokens of a recorded run against all prior contracts pushed into each prompt; times of check and rules.

The baseline exists only here: one request for each contract, with the material and all prior contracts in it, each cut
at 12,000 characters and all together at 24,000, the oldest first. No model is asked: the recording submits documents
that rules wrote, filled up to the sizes that models write (27,000 tokens of prior contracts in nine requests), and it
fetches what each contract follows from. A token is four bytes.
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
from forge.builtin_rules.contract_texts import written
from forge.builtin_rules.prior_names import as_agreed
from forge.builtin_rules.product import product
from forge.context.tokens import of_message, of_text
from forge.contracts.author import form
from forge.contracts.check import check
from forge.contracts.kinds import ORDER, Kind
from forge.contracts.material import Material
from forge.contracts.templates import template
from forge.prompts import Prompts
from forge.sessions.messages import AssistantMessage

EACH, ALTOGETHER = 12_000, 24_000
_THINGS = {
    "Account": "email, password hash, language",
    "Project": "name, state, due date",
    "Task": "title, text, state, assignee, due date, project",
    "Comment": "body, author, task",
}
_CHARACTERS = {
    Kind.MANIFESTO: 1_600,
    Kind.BLUEPRINT: 1_800,
    Kind.STACK: 2_000,
    Kind.SCHEMA: 3_200,
    Kind.PHYSICS: 4_200,
    Kind.BOUNDARIES: 5_600,
    Kind.UI: 6_400,
    Kind.PHASES: 9_200,
    Kind.BUILDER_DIRECTIVE: 1_000,
}
"""At least so many; what a model wrote in the runs that the baseline was first counted with."""
_DETAIL = "{} {}: the screen says what happened, the service refuses what is not allowed, and a test shows both."
_ANSWERS = {
    "product": "A web application in which teams plan projects, keep tasks, discuss them and see what is late.",
    "problem": "Teams keep their tasks in e-mails and spreadsheets. Nobody sees what is late until a customer calls.",
    "success": "A new member finds their tasks within a minute\nA late task is seen by its lead on the same day",
    "users": "Member: takes tasks, comments, finishes\nLead: plans projects, sees what is late\nOwner: pays, invites",
    "stories": "\n".join(
        f"As a {who}, I {what}, so that {why}."
        for who, what, why in (
            ("member", "see my tasks of today first", "I begin with what matters"),
            ("member", "comment on a task", "questions are not lost"),
            ("lead", "move a task to another member", "nobody waits for somebody who is ill"),
            ("lead", "get a report of the month", "I can plan the next one"),
            ("owner", "invite people by e-mail", "a team starts within a day"),
        )
    ),
    "features": "\n".join(
        f"{thing}s — create, list, change and delete a {thing.casefold()}; every change is recorded with who made it"
        for thing in _THINGS
    )
    + "\nBoard — tasks in columns by state, filtered by label and assignee\nSearch — find a task by any word",
    "out_of_scope": "Time tracking\nInvoices\nSeveral languages in one team",
    "languages": "Python, TypeScript",
    "frameworks": "FastAPI, SQLAlchemy, React",
    "hosting": "One container and PostgreSQL, in one data centre in Europe",
    "test_command": "python -m pytest -q",
    "entities": "\n".join(f"{name}: {fields}" for name, fields in _THINGS.items()),
    "sensitive": "E-mail addresses; deleted thirty days after an account is closed",
    "constraints": "No data leaves Europe\nEvery request is bound to one team\nWorks with a keyboard alone",
    "scale": "200 teams of up to 50 people; a page within 300 ms for 95 of 100 requests",
    "pages": "\n".join(f"{name}s — a list with filters, and a form for one" for name in _THINGS) + "\nBoard\nSearch",
    "style": "Calm, dense, one accent colour, light and dark",
}
_FETCHED: Mapping[Kind, tuple[tuple[str, dict[str, str]], ...]] = {
    Kind.MANIFESTO: (("get_project_intent", {}),),
    Kind.BLUEPRINT: (("get_project_intent", {}), ("get_user_stories", {})),
    Kind.STACK: (("get_technical_preferences", {}), ("blueprint", {"part": "Architecture"})),
    Kind.SCHEMA: (("get_technical_preferences", {}), ("blueprint", {"part": "outline"})),
    Kind.PHYSICS: (("schema", {"part": "outline"}), ("blueprint", {"part": "outline"})),
    Kind.BOUNDARIES: (("stack", {}), ("physics", {"part": "outline"})),
    Kind.UI: (("get_user_stories", {}), ("physics", {"part": "outline"})),
    Kind.PHASES: tuple((name, {"part": "outline"}) for name in ("blueprint", "schema", "physics", "ui")),
    Kind.BUILDER_DIRECTIVE: (
        ("phases", {"part": "outline"}),
        ("stack", {"part": "Development tools"}),
        ("boundaries", {"part": "outline"}),
    ),
}
"""What the recorded agent asks for, besides the example: by outline where names are enough."""


def contracts(root: Path) -> Iterator[Figure]:
    material = Material("TaskFlow", {}, _ANSWERS)
    texts = _texts(material)
    assert check(texts) == ()
    began = time.perf_counter()
    for _ in range(20):
        check(texts)
    size = f"nine contracts, {sum(map(len, texts.values())):,} characters"
    yield Figure("check all contracts", size, 1000 * (time.perf_counter() - began) / 20, "ms", at_most=100)
    recording = root / "contracts.jsonl"
    root.mkdir(parents=True, exist_ok=True)
    recording.write_text("".join(f"{json.dumps(line)}\n" for line in _recorded(texts)))
    taken = asyncio.run(_run(root / "recorded", f"recorded:{recording}"))[1]
    pushed = {kind: _pushed(kind, material, texts) for kind in ORDER}
    ours, theirs = sum(taken.values()), sum(pushed.values())
    assert ours > 0
    yield Figure("input tokens of a recorded run", f"{len(_FETCHED)} contracts, 18 requests", ours, "tokens")
    yield Figure("the same with all prior contracts pushed", f"{len(_FETCHED)} contracts, 9 requests", theirs, "tokens")
    yield Figure("fewer input tokens, all contracts", "recorded run", 100 * (1 - ours / theirs), "%", at_least=60)
    last = Kind.BUILDER_DIRECTIVE
    fewer = 100 * (1 - taken[last] / pushed[last])
    yield Figure("fewer input tokens, builder_directive", "recorded run", fewer, "%", at_least=65)
    seconds = asyncio.run(_run(root / "rules", "builtin"))[0]
    yield Figure("generate nine contracts by rules", "one durable run", seconds, "s", at_most=3)


def _texts(material: Material) -> dict[Kind, str]:
    texts: dict[Kind, str] = {}
    for kind in ORDER:
        texts[kind] = _filled(kind, written(kind, as_agreed(product(material), texts), texts))
    return texts


def _filled(kind: Kind, text: str) -> str:
    """With details, until it is as long as a model writes it."""
    missing = max(_CHARACTERS[kind] - len(text), 0)
    details = [_DETAIL.format("Detail", number) for number in range(missing // len(_DETAIL) + 1)]
    if kind is Kind.BOUNDARIES:
        value = json.loads(text)
        return json.dumps(value | {"invariants": [*value["invariants"], *details]}, indent=2)
    if kind is Kind.PHYSICS or not missing:
        return text
    if kind is Kind.PHASES:
        return f"{text.rstrip()}\n\n### Notes\n\n" + "\n".join(details) + "\n"
    return f"{text.rstrip()}\n\n## Details\n\n" + "\n".join(f"- {each}" for each in details) + "\n"


def _recorded(texts: Mapping[Kind, str]) -> Iterator[dict[str, Any]]:
    for kind in ORDER:
        calls = [
            {"name": name, "arguments": given}
            if name.startswith("get_")
            else {"name": "get_prior_contract", "arguments": {"contract_type": name, **given}}
            for name, given in ((kind.value, {}), *_FETCHED[kind])
        ]
        yield {"for": kind.value, "calls": calls}
        yield {"for": kind.value, "calls": [{"name": "submit_contract", "arguments": {"content": texts[kind]}}]}


def _pushed(kind: Kind, material: Material, texts: Mapping[Kind, str]) -> int:
    """Tokens of the one request with everything in it."""
    prior = {each: texts[each][:EACH] for each in ORDER[: ORDER.index(kind)]}
    chain = "\n\n---\n\n".join(f"## {each} (already generated)\n{text}" for each, text in prior.items())[-ALTOGETHER:]
    known = "\n\n".join((material.project_intent(), material.technical_preferences(), material.user_stories()))
    system = f"{Prompts().get('contract-author')}\n\n{form(kind)}\n\n{template(kind)}"
    return of_text(system) + of_text(f"{known}\n\n{chain}")


async def _run(place: Path, agent: str) -> tuple[float, dict[Kind, int]]:
    from forge.app.access.identity import LOCAL  # noqa: PLC0415 - loads the engine
    from forge.app.process.workshop import open_workshop  # noqa: PLC0415
    from forge.app.projects.catalog import create  # noqa: PLC0415
    from forge.app.projects.generation import Wanted, generate_found, generation_of  # noqa: PLC0415
    from forge.app.projects.questionnaire import answer_found  # noqa: PLC0415
    from forge.settings import load  # noqa: PLC0415

    places = {"FORGE_DATA_DIR": place / "data", "FORGE_WORKSPACE": place / "workspace"}
    environ = {"PATH": os.environ["PATH"], "HOME": str(place)} | {name: str(path) for name, path in places.items()}
    async with open_workshop(load(environ), environ) as shop:
        project = await create(shop, "TaskFlow", agent="builtin")
        answer_found(shop, LOCAL, project, _ANSWERS)
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
