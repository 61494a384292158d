"""An exploration as a face shows it: one value with all that is known, computed from the state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from forge.app.admin.prompts import prompts
from forge.app.projects.explored import HANDED_OVER, broken_ground
from forge.explore import brief, conflicts, turn, verdict
from forge.explore.knowledge import MODES, Knowledge
from forge.explore.route import fired, open_probes
from forge.explore.workbench import Workbench
from forge.json_value import Json
from forge.pipeline import resources
from forge.projects.project import Project
from forge.projects.skeleton import STAKEHOLDER_ROLES
from forge.settings import Settings

_SCENE = "Say `background` or `problem`, or write on about the problem."


@dataclass(frozen=True, slots=True)
class Exploration:
    """All that is known, as a face shows it."""

    project: str
    warning: str
    """About a state that another version of Forge saved; empty otherwise."""
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
    tree: tuple[Json, ...]
    """From outcome over opportunity and solution to assumptions: `id`, `kind`, `label`, `text`, `status`, `parent`."""
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
    documents: tuple[Json, ...]
    """The person's files, each with the passages that were cited: `name`, `bytes_size`, `citations`."""
    changes: tuple[Json, ...]
    summary: str
    risk_line: float
    handed_over: bool
    broken_ground: tuple[Json, ...]
    """Assumptions that documents of the project rest on and that broke later."""
    next: str


def shown(settings: Settings, project: Project, run: str | None = None) -> Exploration:
    saved = project.state()
    bench = Workbench.of(saved, line=settings.explore.risk_line)
    knowledge = Knowledge(prompts(settings).get)
    skeleton, routing = bench.skeleton, bench.routing
    mode = bench.values.get("active_mode")
    here = mode if mode in MODES else None
    estimate = skeleton.get("value_estimate")
    solution = {"name": skeleton.get("solution_name"), "description": skeleton.get("solution_description")}
    return Exploration(
        project=project.id,
        warning=saved.warning,
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
        tree=_tree(bench),
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
        documents=_documents(project, bench),
        changes=_objects(bench, routing, "changes"),
        summary=str(skeleton.get("conversation_summary") or ""),
        risk_line=bench.line,
        handed_over=bool(routing.get(HANDED_OVER)),
        broken_ground=broken_ground(project),
        next=_SCENE if project.info().scene_asked is not None else _next(bench, knowledge, here),
    )


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


def _tree(bench: Workbench) -> tuple[Json, ...]:
    """An assumption stands under the first one that it rests on, else under the solution, or the problem."""
    skeleton, metrics = bench.skeleton, bench.group("success_metrics")
    wanted = [str(each.get("text")) for kind in ("lagging", "leading") for each in _objects(bench, metrics, kind)]
    solution = skeleton.get("solution_name")
    above = [
        ("outcome", "Outcome", "; ".join(wanted) or "No outcome is named yet."),
        ("opportunity", "Opportunity", str(skeleton.get("problem_statement") or "The problem is not stated yet.")),
        *([("solution", "Solution", str(solution))] if solution else []),
    ]
    parents = [None, *(id_ for id_, _, _ in above)]
    made: list[Json] = [
        {"id": id_, "kind": kind, "label": "", "text": text, "status": "active", "parent": parent}
        for (id_, kind, text), parent in zip(above, parents, strict=False)
    ]
    for each in bench.register.assumptions.values():
        parent = next((on for on in each.depends_on if on in bench.register.assumptions), parents[-1])
        about = {"kind": "Assumption", "label": each.id, "text": each.claim, "status": each.status}
        made.append({"id": each.id, "parent": parent, **about})
    return tuple(made)


def _documents(project: Project, bench: Workbench) -> tuple[Json, ...]:
    cited: dict[str, list[Json]] = {}
    for id_, each in bench.citations.items():
        place = str(each.get("place", ""))
        cited.setdefault(place.partition(", ")[0], []).append({"id": id_, "place": place, "turn": each.get("turn", 0)})
    files = resources.listed(project.directory / "resources")
    return tuple({"name": name, "bytes_size": size, "citations": cited.get(name, [])} for name, size in files)


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


def briefs_of(project: Project) -> dict[str, str]:
    """The texts that were written, by type."""
    found = ((str(each["type"]), project.records.read(str(each["path"]))) for each in _artifacts(project))
    return {kind: text for kind, text in found if text is not None}


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
