"""Generate contracts of a project: begun, watched and stopped. One run at a time works on a project's contracts."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import asdict, dataclass
from typing import Literal

from forge.agents.models import registry
from forge.app.access.identity import Who, audit
from forge.app.admin.agent_programs import programs
from forge.app.admin.models import refuse_paths
from forge.app.admin.profiles import profiles_of
from forge.app.process.work_loop import on_work_loop
from forge.app.process.workshop import Workshop
from forge.app.projects.chosen_agents import chosen_agents_of
from forge.app.projects.contract_views import State, overview
from forge.app.projects.generation_run import WORKFLOW, Plan
from forge.app.projects.lookup import project_for
from forge.contracts import pins
from forge.contracts.author import ROLE
from forge.contracts.errors import (
    ContractEdited,
    GenerationRunning,
    NoGeneration,
    NothingKnown,
    NothingToGenerate,
    ProgramCannotWrite,
)
from forge.contracts.kinds import ORDER, Kind, kind_named
from forge.contracts.material import Material
from forge.json_value import Json
from forge.projects.project import Project
from forge.store.costs import Spent
from forge.store.runs import RunRow, RunState

__all__ = ["ContractEdited"]

UNFINISHED: tuple[RunState, ...] = ("queued", "waiting", "running")

Edited = Literal["refuse", "keep", "overwrite"]
_UNFINISHED: tuple[State, ...] = ("missing", "draft", "stale")
_PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """`kinds` empty means those that are missing, drafts or stale; `everything` all nine."""

    kinds: tuple[str, ...] = ()
    everything: bool = False
    edited: Edited = "refuse"
    mini: bool = False
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class ContractTask:
    """One contract of a run. `state` is `waiting`, `generating`, `saved`, `draft`, `kept` or `not_written`."""

    contract_type: Kind
    state: str
    input_tokens: int
    output_tokens: int
    requests: int
    cost: float | None


@dataclass(frozen=True, slots=True)
class Generation:
    run: str
    state: RunState
    model: str
    contracts: tuple[ContractTask, ...]
    input_tokens: int
    output_tokens: int
    cost: float | None
    started: float
    ended: float | None
    problem: str
    code: str
    """Of the error that ended it; empty where none did."""


@dataclass(frozen=True, slots=True)
class Started:
    run: str
    kinds: tuple[Kind, ...]
    model: str
    topic: str
    after: int


def started_from_json(data: Json) -> Started:
    """As the API gives it."""
    return Started(**{**data, "kinds": tuple(map(Kind, data["kinds"]))})


def generation_from_json(data: Json) -> Generation:
    """As the API gives it."""
    tasks = (ContractTask(**{**each, "contract_type": Kind(each["contract_type"])}) for each in data["contracts"])
    return Generation(**{**data, "contracts": tuple(tasks)})


@on_work_loop
async def generate_contracts(shop: Workshop, who: Who, id_: str, wanted: Wanted) -> Started:
    refuse_paths(who, wanted.agent)
    project = await asyncio.to_thread(project_for, shop, who, id_, "run")
    return await generate_found(shop, who, project, wanted)


async def generate_found(shop: Workshop, who: Who, project: Project, wanted: Wanted) -> Started:
    """For who may do so. Nothing is begun where a person's text would be overwritten without their word."""
    model = await asyncio.to_thread(_author, shop, project, wanted.agent)
    if await asyncio.to_thread(_running, shop, project) is not None:
        raise _busy()
    kinds = await asyncio.to_thread(_chosen, project, wanted)
    profile = profiles_of(shop.settings).get(ROLE).to_json()
    begun = uuid.uuid4().hex
    plan = Plan(str(project.directory), kinds, model, profile, wanted.edited, mini=wanted.mini, begun=begun)
    run = await asyncio.to_thread(_next_run, shop, project)
    after = await asyncio.to_thread(shop.events.last, project.subject.topic)
    await shop.engine.start_run(WORKFLOW, asdict(plan), run_id=run, subject=project.subject, anywhere=True)
    shop.engine.take_over(run)
    # Two who begin at once take the same id: the engine has one run, and the other one is told.
    if (await asyncio.to_thread(shop.engine.arguments, run) or {}).get("begun") != begun:
        raise _busy()
    await asyncio.to_thread(audit, shop, who, "contract.generate", f"project:{project.id}", ", ".join(kinds))
    return Started(run, tuple(map(Kind, kinds)), model, project.subject.topic, after)


async def continue_found(shop: Workshop, project: Project) -> Started | None:
    """The run that is under way, gone on with here if its process is dead; None where there is none."""
    row = await asyncio.to_thread(_running, shop, project)
    if row is None:
        return None
    shop.engine.take_over(row.id)
    arguments = await asyncio.to_thread(shop.engine.arguments, row.id) or {}
    kinds = tuple(map(Kind, arguments.get("kinds", ())))
    after = await asyncio.to_thread(shop.events.last, project.subject.topic)
    return Started(row.id, kinds, str(arguments.get("model", "")), project.subject.topic, after)


def show_generation(shop: Workshop, who: Who, id_: str) -> Generation | None:
    return generation_of(shop, project_for(shop, who, id_))


def newest_found(shop: Workshop, project: Project) -> Generation:
    if (found := generation_of(shop, project)) is None:
        raise NoGeneration("No contracts were generated.", hint="Let an agent write them: forge contracts generate.")
    return found


def generation_of(shop: Workshop, project: Project) -> Generation | None:
    """The newest run; None where there never was one."""
    rows = _runs(shop, project)
    return _shown(shop, project, rows[0]) if rows else None


@on_work_loop
async def stop_generation(shop: Workshop, who: Who, id_: str) -> Generation:
    """What was written by then is kept."""
    project = await asyncio.to_thread(project_for, shop, who, id_, "run")
    return await stop_found(shop, who, project)


async def stop_found(shop: Workshop, who: Who, project: Project) -> Generation:
    running = await asyncio.to_thread(_running, shop, project)
    if running is None:
        raise NoGeneration("No contracts are being generated.", hint="There is nothing to stop.")
    await shop.engine.cancel(running.id)
    await shop.engine.wait(running.id, _PATIENCE)
    await asyncio.to_thread(audit, shop, who, "contract.generate_stop", f"project:{project.id}")
    row = await asyncio.to_thread(shop.engine.status, running.id)
    return await asyncio.to_thread(_shown, shop, project, row)


def _busy() -> GenerationRunning:
    return GenerationRunning(
        "Contracts of this project are being generated.", hint="Wait for it, or stop it: forge contracts stop."
    )


def _author(shop: Workshop, project: Project, agent: str | None) -> str:
    """Who writes: as asked, else as set for the project or its role."""
    name = agent or chosen_agents_of(shop, project).who(ROLE)
    if name in programs(shop.settings):
        raise ProgramCannotWrite(
            f"{name} is an agent program; it cannot write contracts.",
            hint="Name a model or `builtin`: forge contracts generate --agent MODEL.",
        )
    registry.resolve(name, shop.settings)
    return name


def _chosen(project: Project, wanted: Wanted) -> tuple[str, ...]:
    if Material.of(project).is_empty:
        raise NothingKnown(
            "The project has no intent, no spec and no answers.",
            hint="Answer the questions first: forge contracts answer.",
        )
    cards = overview(project).items
    named = {kind_named(each) for each in wanted.kinds}
    if not named and not wanted.everything:
        named = {card.contract_type for card in cards if card.state in _UNFINISHED}
        if not named:
            raise NothingToGenerate("All nine contracts are there.", hint="Name one to write it anew, or ask for all.")
    kinds = [kind for kind in ORDER if kind in named or wanted.everything]
    edited = [card.contract_type.value for card in cards if card.contract_type in kinds and card.origin == "person"]
    if edited and wanted.edited == "refuse":
        raise ContractEdited(
            f"Written or edited by a person: {', '.join(edited)}.",
            hint="Keep them (--keep), or let them be written over (--force); their versions stay in the history.",
        )
    left = tuple(kind.value for kind in kinds if wanted.edited != "keep" or kind.value not in edited)
    if not left:
        raise NothingToGenerate("A person wrote all of them.", hint="Write over them with --force.")
    return left


def _runs(shop: Workshop, project: Project) -> tuple[RunRow, ...]:
    return shop.engine.runs(name=WORKFLOW, subject=project.subject, limit=20)


def _running(shop: Workshop, project: Project) -> RunRow | None:
    return next(iter(shop.engine.runs(name=WORKFLOW, subject=project.subject, states=UNFINISHED, limit=1)), None)


def _next_run(shop: Workshop, project: Project) -> str:
    numbers = [int(row.id.rpartition("-")[2]) for row in _runs(shop, project)]
    return f"{WORKFLOW}-{project.id}-{max(numbers, default=0) + 1}"


def _shown(shop: Workshop, project: Project, row: RunRow) -> Generation:
    """From the commits of the run, what its answers took, and how it ended."""
    arguments = shop.engine.arguments(row.id) or {}
    kinds = [Kind(each) for each in arguments.get("kinds", ())]
    versions = pins.current(project).history.written_by(row.id)
    wrote = {kind: "draft" if version.draft else "saved" for kind, version in versions.items()}
    ended = {each["contract"]: each["state"] for each in (row.result or {}).get("contracts", ())}
    costs = shop.costs.by_step(row.id)
    tasks: list[ContractTask] = []
    is_next = not row.has_ended
    for kind in kinds:
        spent = _sum([each for step, each in costs.items() if step.startswith(f"contract/{kind.value}/")])
        state = ended.get(kind.value) or wrote.get(kind)
        if state is None:
            state = "generating" if is_next else "not_written" if row.has_ended else "waiting"
            is_next = False
        tasks.append(ContractTask(kind, state, spent.input_tokens, spent.output_tokens, spent.requests, spent.cost))
    total, error = shop.costs.total(run=row.id), row.error or {}
    problem = f"{error.get('message', '')} {error.get('hint', '')}".strip()
    return Generation(
        row.id,
        row.state,
        str(arguments.get("model", "")),
        tuple(tasks),
        total.input_tokens,
        total.output_tokens,
        total.cost,
        row.created,
        row.ended,
        problem,
        str(error.get("code", "")),
    )


def _sum(parts: list[Spent]) -> Spent:
    known = [each.cost for each in parts if each.cost is not None]
    return Spent(
        input_tokens=sum(each.input_tokens for each in parts),
        output_tokens=sum(each.output_tokens for each in parts),
        requests=sum(each.requests for each in parts),
        cost=sum(known) if known else None,
    )
