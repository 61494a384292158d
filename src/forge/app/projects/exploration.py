"""Use cases of the explorer: answer what was said, show what is known, change it by hand, hand it on as brain dump."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime

from forge.app.access.identity import LOCAL, Who, audit
from forge.app.process.work_loop import on_work_loop
from forge.app.process.workshop import Workshop
from forge.app.projects.change import change_project
from forge.app.projects.chosen_agents import explorers
from forge.app.projects.exploration_run import EXPLORE, write_bench
from forge.app.projects.exploration_view import Exploration, briefs_of, shown
from forge.app.projects.explored import HANDED_OVER, handed_on
from forge.app.projects.lookup import project_for
from forge.app.projects.work_stop import end_run
from forge.counts import counted
from forge.engine.engine import BRANCHES
from forge.engine.errors import RunUnknown
from forge.errors import InvalidInput, NotFound
from forge.explore import conflicts, turn
from forge.explore.errors import ChangeRefused
from forge.explore.knowledge import MODES
from forge.explore.toolkit import TOOLS
from forge.explore.workbench import StateTool, Workbench
from forge.json_value import Json
from forge.pipeline.desk import INTENT, SPEC
from forge.pipeline.draft import Draft
from forge.projects import context_file, state
from forge.projects.project import Project
from forge.projects.status import Phase
from forge.tools.tool import ToolRetry

__all__ = ["Exploration", "briefs_of", "shown"]

_RECORDED = "recorded:"


class ExplorationClosed(InvalidInput):
    code = "exploration_closed"


class ToolUnknown(NotFound):
    code = "exploration_tool_unknown"


async def answer(shop: Workshop, project: Project) -> str | None:
    """See that a turn answers what was said; its run, or None where nothing waits for an answer."""
    if not await asyncio.to_thread(_waits, project):
        return None
    number = len((await asyncio.to_thread(project.state)).values["messages"])
    id_ = f"{EXPLORE}-{project.id}-{number}"
    if not await asyncio.to_thread(_is_new, shop, id_):
        # It ended without an answer; whoever asks again gets another turn.
        id_ = f"{id_}-{int(time.time() * 1000):x}"
    arguments = {"directory": str(project.directory), "agents": await asyncio.to_thread(explorers, shop, project)}
    await shop.engine.enqueue(
        BRANCHES, EXPLORE, arguments, run_id=id_, partition=f"project:{project.id}", subject=project.subject
    )
    return id_


def _is_new(shop: Workshop, id_: str) -> bool:
    try:
        return not shop.engine.status(id_).has_ended
    except RunUnknown:
        return True


def _waits(project: Project) -> bool:
    """Whether something was said that the explorer has to answer. Background was acknowledged when it was taken in."""
    info = project.info()
    if info.agent.startswith(_RECORDED) or info.scene_asked is not None:
        return False
    said = turn.unanswered(Workbench.of(project.state()))
    return project.status().phase is Phase.BRAIN_DUMP and bool(said) and said[-1] not in info.background


@on_work_loop
async def answer_of(shop: Workshop, who: Who, id_: str, run: str) -> str:
    """Wait for a turn, and give what Forge said in it."""
    project = await asyncio.to_thread(project_for, shop, who, id_)
    if (await asyncio.to_thread(shop.engine.status, run)).subject != project.subject:
        raise RunUnknown(f"This project has no turn {run}.", hint="Show the exploration to see where it is.")
    await shop.engine.handle(run).result()
    chat = await asyncio.to_thread(project.chat)
    return next((each.content for each in reversed(chat) if each.role == "ai"), "")


@on_work_loop
async def stop(shop: Workshop, who: Who, id_: str) -> Exploration:
    """End the turn under way. What was said stays and can be answered later."""
    project = await asyncio.to_thread(project_for, shop, who, id_, "run")
    run = await asyncio.to_thread(_run_of, shop, project)
    if run is not None:
        await end_run(shop, run)
    return await asyncio.to_thread(show, shop, who, id_)


def show(shop: Workshop, who: Who, id_: str) -> Exploration:
    project = project_for(shop, who, id_)
    return shown(shop.settings, project, _run_of(shop, project))


def briefs(shop: Workshop, who: Who, id_: str) -> dict[str, str]:
    """The texts that were written, by type."""
    return briefs_of(project_for(shop, who, id_))


def _run_of(shop: Workshop, project: Project) -> str | None:
    found = (row for row in shop.engine.runs(subject=project.subject) if row.name == EXPLORE and not row.has_ended)
    return next((row.id for row in found), None)


def list_tools(shop: Workshop, who: Who, id_: str) -> tuple[StateTool, ...]:
    project_for(shop, who, id_)
    return tuple(TOOLS.values())


def change(shop: Workshop, who: Who, id_: str, tool: str, arguments: Json) -> str:
    """One change by a person, recorded with its reason like those of the explorer."""
    project = project_for(shop, who, id_, "write")
    done = change_found(shop, project, tool, arguments, by=who.id if who is not LOCAL else "person")
    audit(shop, who, f"explore.{tool}", f"project:{project.id}", done)
    return done


def change_found(shop: Workshop, project: Project, tool: str, arguments: Json, *, by: str) -> str:
    found = TOOLS.get(tool)
    if found is None:
        raise ToolUnknown(f"There is no change named `{tool[:60]}`.", hint=f"There are: {', '.join(TOOLS)}.")
    told: list[str] = []

    def apply(draft: Draft) -> None:
        bench, saved = _drafted(shop, draft, by)
        before = bench.register
        try:
            told.append(bench.apply(found, shop.redactor.json(arguments)))
        except ToolRetry as e:
            raise ChangeRefused(str(e), hint="Nothing was changed.") from e
        conflicts.record(bench, conflicts.found(bench, before, ""))
        write_bench(draft, saved, bench)
        shaken = [id_ for id_, each in bench.register.assumptions.items() if each.status == "invalidated"]
        news = [id_ for id_ in shaken if before.get(id_).status != "invalidated"] if shaken else []
        if news and draft.status.phase not in (Phase.BRAIN_DUMP, Phase.DONE):
            _tell_broken(project, draft, news)

    change_project(shop, project, apply, f"explore: {tool} by {by}")
    return told[-1]


def _tell_broken(project: Project, draft: Draft, ids: list[str]) -> None:
    """What was built on it is not changed by itself; the person is told."""
    documents = [path for path in (INTENT, SPEC) if any(f"[{id_}]" in (draft.read(path) or "") for id_ in ids)]
    if documents:
        draft.say(f"{', '.join(ids)} did not hold. It is in {', '.join(documents)}: look at what rests on it.")
        project.log.write("warn", "assumption_broken", str(draft.status.phase), ", ".join(ids))


def hand_over(shop: Workshop, who: Who, id_: str) -> str:
    """Make the exploration the brain dump: the next distillation takes it in, each line with its origin."""
    return hand_over_found(shop, who, project_for(shop, who, id_, "write"))


def hand_over_found(shop: Workshop, who: Who, project: Project) -> str:
    if project.status().phase is not Phase.BRAIN_DUMP:
        raise ExplorationClosed("The brain dump of this project is over.", hint="Realign, or start a new project.")
    told: list[str] = []

    def hand(draft: Draft) -> None:
        bench, saved = _drafted(shop, draft, who.id)
        if not bench.skeleton.get("problem_statement"):
            raise ChangeRefused("The problem is not stated yet.", hint="Go on exploring, or distill what you said.")
        found = handed_on(bench)
        bench.routing[HANDED_OVER] = bench.turn or 1
        write_bench(draft, saved, bench)
        parts = f"{counted(len(found.unknowns), 'unknown')}, {counted(len(found.constraints), 'constraint')}"
        told.append(f"The exploration is part of the brain dump now: problem, {parts}. Distill comes next.")
        draft.say(told[-1])

    change_project(shop, project, hand, "explore: made the brain dump")
    audit(shop, who, "explore.hand_over", f"project:{project.id}")
    return told[-1]


def enter_mode(shop: Workshop, who: Who, id_: str, mode: str | None) -> None:
    """Accept what is proposed, or go elsewhere: the person decides."""
    project = project_for(shop, who, id_, "write")
    if mode is not None and mode not in MODES:
        raise ChangeRefused(f"There is no mode `{mode[:40]}`.", hint=f"There are: {', '.join(MODES)}.")

    def enter(draft: Draft) -> None:
        bench, saved = _drafted(shop, draft, who.id)
        bench.values["active_mode"] = mode
        bench.values["current_phase"] = mode or "gathering"
        bench.routing.update(proposal=None, active_probe=None)
        write_bench(draft, saved, bench)

    change_project(shop, project, enter, f"explore: mode {mode or 'gathering'}")


def _drafted(shop: Workshop, draft: Draft, by: str) -> tuple[Workbench, state.SavedState]:
    saved = state.loaded(draft.read(state.FILE))
    saved = context_file.with_context(saved, context_file.parse(draft.read(context_file.FILE)))
    now = datetime.fromtimestamp(draft.now, UTC)
    return Workbench.of(saved, by=by, now=now, line=shop.settings.explore.risk_line), saved
