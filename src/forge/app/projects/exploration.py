"""Use cases of the explorer: answer what was said, show what is known, change it by hand, hand it on as brain dump."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from forge.app.access.identity import LOCAL, Who, audit
from forge.app.admin.prompts import prompts
from forge.app.process.workshop import Workshop
from forge.app.projects.change import change_project
from forge.app.projects.exploration_run import EXPLORE, write_bench
from forge.app.projects.explored import HANDED_OVER, broken_ground, handed_on
from forge.app.projects.lookup import project_for
from forge.app.projects.run_needs import explorers
from forge.counts import counted
from forge.engine.engine import BRANCHES
from forge.engine.errors import RunUnknown
from forge.errors import InvalidInput, NotFound
from forge.explore import brief, conflicts, turn, verdict
from forge.explore.errors import ChangeRefused
from forge.explore.knowledge import MODES, Knowledge
from forge.explore.route import fired, open_probes
from forge.explore.toolkit import TOOLS
from forge.explore.workbench import StateTool, Workbench
from forge.json_value import Json
from forge.pipeline.desk import INTENT, SPEC
from forge.pipeline.draft import Draft
from forge.projects import context_file, state
from forge.projects.project import Project
from forge.projects.skeleton import STAKEHOLDER_ROLES
from forge.projects.status import Phase
from forge.settings import Settings
from forge.tools.tool import ToolRetry

__all__ = ["MODES", "TOOLS", "ExplorationClosed", "ToolUnknown"]

_RECORDED = "recorded:"
_SCENE = "Say `background` or `problem`, or write on about the problem."


class ExplorationClosed(InvalidInput):
    code = "exploration_closed"


class ToolUnknown(NotFound):
    code = "exploration_tool_unknown"


@dataclass(frozen=True, slots=True)
class Exploration:
    """All that is known, as a face shows it."""

    project: str
    phase: str
    mode: str | None
    mode_title: str
    turn: int
    waiting: bool
    """Whether something was said that is not answered yet."""
    run: str | None
    """The turn under way, if there is one."""
    proposal: Json | None
    questions: tuple[str, ...]
    problem: str | None
    audience: str | None
    not_about: tuple[str, ...]
    solution: Json | None
    assumptions: tuple[Json, ...]
    broken_paths: tuple[tuple[str, str], ...]
    stakeholders: tuple[Json, ...]
    metrics: Json
    criteria: Json
    constraints: tuple[Json, ...]
    risks: tuple[Json, ...]
    risk_assessment: Json
    validation_plan: tuple[Json, ...]
    verdict: Json
    value_estimate: Json | None
    priorities: tuple[Json, ...]
    modes: tuple[Json, ...]
    patterns: tuple[Json, ...]
    conflicts: tuple[Json, ...]
    flags: tuple[str, ...]
    artifacts: tuple[Json, ...]
    changes: tuple[Json, ...]
    summary: str
    risk_line: float
    handed_over: bool
    broken_ground: tuple[Json, ...]
    """Assumptions that documents of the project rest on and that broke later."""
    next: str


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


async def answer_for(shop: Workshop, who: Who, id_: str) -> str | None:
    project = await asyncio.to_thread(project_for, shop, who, id_, "run")
    if (await asyncio.to_thread(project.status)).phase is not Phase.BRAIN_DUMP:
        raise ExplorationClosed("The brain dump of this project is over.", hint="Start a new project to explore more.")
    return await answer(shop, project)


def show(shop: Workshop, who: Who, id_: str) -> Exploration:
    project = project_for(shop, who, id_)
    return shown(shop.settings, project, _run_of(shop, project))


def _run_of(shop: Workshop, project: Project) -> str | None:
    found = (row for row in shop.engine.runs(subject=project.subject) if row.name == EXPLORE and not row.has_ended)
    return next((row.id for row in found), None)


def shown(settings: Settings, project: Project, run: str | None = None) -> Exploration:
    bench = Workbench.of(project.state(), line=settings.explore.risk_line)
    knowledge = Knowledge(prompts(settings).get)
    skeleton, routing = bench.skeleton, bench.routing
    mode = bench.values.get("active_mode")
    here = mode if mode in MODES else None
    estimate = skeleton.get("value_estimate")
    solution = {"name": skeleton.get("solution_name"), "description": skeleton.get("solution_description")}
    return Exploration(
        project=project.id,
        phase=str(project.status().phase),
        mode=here,
        mode_title=MODES.get(here or "", "Gathering"),
        turn=bench.turn,
        waiting=bool(turn.unanswered(bench)),
        run=run,
        proposal=routing.get("proposal") if isinstance(routing.get("proposal"), dict) else None,
        questions=tuple(map(str, bench.items(routing, "questions"))),
        problem=skeleton.get("problem_statement"),
        audience=skeleton.get("target_audience"),
        not_about=tuple(map(str, bench.items(skeleton, "not_about"))),
        solution=solution if solution["name"] else None,
        assumptions=_assumptions(bench),
        broken_paths=bench.register.broken_paths(),
        stakeholders=_stakeholders(bench),
        metrics=dict(bench.group("success_metrics")),
        criteria=dict(bench.group("decision_criteria")),
        constraints=_objects(bench, skeleton, "constraints"),
        risks=_objects(bench, skeleton, "risks"),
        risk_assessment=dict(bench.group("risk_assessment")),
        validation_plan=_objects(bench, skeleton, "validation_plan"),
        verdict={**bench.group("go_no_go"), "in_the_way": _in_the_way(bench)},
        value_estimate=estimate if isinstance(estimate, dict) else None,
        priorities=_objects(bench, skeleton, "priorities"),
        modes=_modes(bench, knowledge),
        patterns=_objects(bench, routing, "patterns_fired"),
        conflicts=_objects(bench, routing, "conflicts"),
        flags=tuple(each.text for each in conflicts.flags(bench)),
        artifacts=_artifacts(project),
        changes=_objects(bench, routing, "changes"),
        summary=str(skeleton.get("conversation_summary") or ""),
        risk_line=bench.line,
        handed_over=bool(routing.get(HANDED_OVER)),
        broken_ground=broken_ground(project),
        next=_SCENE if project.info().scene_asked is not None else _next(bench, knowledge, here),
    )


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
    project = project_for(shop, who, id_, "write")
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


def _assumptions(bench: Workbench) -> tuple[Json, ...]:
    risks, resting = bench.register.risks(bench.now.date()), bench.register.resting_counts()
    ranked = sorted(bench.register.assumptions.values(), key=lambda each: -risks[each.id])
    return tuple(
        {
            **each.to_json(),
            "risk": risks[each.id],
            "resting": resting[each.id],
            "cheapest_test": each.cheapest_test,
            "above_line": risks[each.id] > bench.line,
        }
        for each in ranked
    )


def _stakeholders(bench: Workbench) -> tuple[Json, ...]:
    groups = bench.group("stakeholders")
    return tuple(
        {"role": role, **(each if isinstance(each, dict) else {"id": "", "name": str(each)})}
        for role in STAKEHOLDER_ROLES
        for each in bench.items(groups, role)
    )


def _objects(bench: Workbench, part: dict[str, Any], name: str) -> tuple[Json, ...]:
    return tuple(each for each in bench.items(part, name) if isinstance(each, dict))


def _in_the_way(bench: Workbench) -> list[Json]:
    found = verdict.obstacles(bench.register, bench.line, bench.now.date())
    return [{"id": each.id, "claim": each.claim, "cheapest_test": each.cheapest_test} for each in found]


def _modes(bench: Workbench, knowledge: Knowledge) -> tuple[Json, ...]:
    done, records = bench.items(bench.routing, "completed_modes"), fired(bench)
    made: list[Json] = []
    for name, title in MODES.items():
        mode = knowledge.mode(name)
        left = open_probes(bench, mode)
        probes = [
            {
                "name": each.name,
                "question": each.question,
                "purpose": each.conditions.get("Purpose", ""),
                "state": "done" if each.name not in left else "asked" if each.name in records else "open",
                "finding": str(records[each.name][-1].get("finding", "")) if each.name in records else "",
            }
            for each in mode.probes
        ]
        made.append({"name": name, "title": title, "completed": name in done, "probes": probes})
    return tuple(made)


def _artifacts(project: Project) -> tuple[Json, ...]:
    found = ((kind, path) for kind, path in brief.FILES.items() if (project.directory / path).is_file())
    return tuple({"type": kind, "path": path} for kind, path in found)


def _next(bench: Workbench, knowledge: Knowledge, mode: str | None) -> str:
    """What is best done now, in one sentence."""
    if turn.unanswered(bench) and bench.turn:
        return "An answer to your last message is due."
    waiting = bench.routing.get("proposal")
    if isinstance(waiting, dict) and waiting.get("mode") in MODES:
        return f"Say yes to go on with {MODES[waiting['mode']]}, or go on here."
    untested = bench.register.untested(bench.line, bench.now.date())
    if not open_probes(bench, knowledge.mode(mode)) and untested:
        return f"Test {untested[0].id}: {untested[0].cheapest_test}."
    questions = bench.items(bench.routing, "questions")
    return f"Answer: {questions[0]}" if questions else "Say what problem or opportunity you are after."
