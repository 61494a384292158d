"""A project as people are shown it: what its files say, and whether it is being worked on."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forge.app.projects.halted_runs import WorkStopped, as_it_is, told
from forge.app.projects.project_view import ProjectView
from forge.app.projects.run_kinds import KINDS
from forge.boards.overview import PHASES
from forge.builtin_rules import WAYS
from forge.engine.errors import RunUnknown
from forge.errors import ForgeError
from forge.pipeline import actions
from forge.pipeline.actions import ActionState
from forge.pipeline.baseline import SUPPLY
from forge.pipeline.desk import TEST_RUNS
from forge.pipeline.material import ROUNDS
from forge.pipeline.offers import offers, reason_in_words
from forge.pipeline.outline_run import OUTLINE, label
from forge.pipeline.provenance import NOTE
from forge.pipeline.scene import QUESTION
from forge.plugins.roles import TestResults
from forge.projects import fields, files, log, pending
from forge.projects.errors import InvalidRecord
from forge.projects.state import last_saved
from forge.projects.status import Phase, ProjectStatus
from forge.question_kinds import QuestionKind

if TYPE_CHECKING:
    from forge.app.process.workshop import Workshop
    from forge.json_value import Json
    from forge.pipeline.draft import Draft
    from forge.projects.info import ProjectInfo
    from forge.projects.project import Project
    from forge.store.runs import RunRow, RunState

__all__ = ["ProjectView"]

PLAN = "docs/plan.md"
_KEPT = 4096
_MOST_QUEUED = 10_000
_QUEUED: tuple[RunState, ...] = ("queued", "waiting")
_MOMENT = 50_000_000
"""Nanoseconds; clocks of file systems are a good deal finer."""


@dataclass(frozen=True, slots=True)
class _Contents:
    """What the files of a project say, as far as people are shown it."""

    name: str
    status: ProjectStatus
    info: ProjectInfo
    rounds: tuple[Json, ...]
    tests: Json | None
    document: str | None
    """The plan, or the outline where there is none."""
    last_saved: str
    """When something was said or noted last."""


STOPPED = "Stopped by you"


# Read once for as long as no file changes: lists and boards are asked for far more often than projects move.
_read: dict[Path, tuple[dict[str, files.Mark], _Contents]] = {}


def _contents(project: Project) -> _Contents:
    marks = _marks(project)
    known = _read.get(project.directory)
    if known is not None and known[0] == marks:
        return known[1]
    found = _loaded(project)
    # A file that was written a moment ago can be written again without looking any different.
    if marks and time.time_ns() - max(max(mark[2:4]) for mark in marks.values()) > _MOMENT:
        if len(_read) >= _KEPT:
            _read.clear()
        _read[project.directory] = (marks, found)
    return found


def _marks(project: Project) -> dict[str, files.Mark]:
    """Of everything but the log. None at all while a change is half done: it has to be finished first."""
    if os.path.lexists(project.directory / ".git" / pending.FILE):
        return {}
    try:
        seen = files.marks(project.directory)
    except OSError:  # whoever reads it says what is wrong
        return {}
    seen.pop(log.FILE, None)
    return seen


def _loaded(project: Project) -> _Contents:
    status, info = project.status(), project.info()
    return _Contents(
        name=status.project_name or project.name,
        status=status,
        info=info,
        rounds=rounds_of(project),
        tests=last_tests(lines_of(project, TEST_RUNS)),
        last_saved=last_saved(project.directory),
        document=next((path for path in _documents(info) if project.records.read(path) is not None), None),
    )


def views(
    shop: Workshop | None, projects: Iterable[Project]
) -> tuple[tuple[tuple[Project, ProjectView], ...], tuple[str, ...]]:
    """Those that can be read, and a sentence about each other one: none hides the rest."""
    seen: list[tuple[Project, ProjectView]] = []
    broken: list[str] = []
    for project in projects:
        try:
            seen.append((project, view(shop, project)))
        except ForgeError as e:
            broken.append(f"{project.directory.name}: {e.message}")
    return tuple(seen), tuple(broken)


def view(shop: Workshop | None, project: Project) -> ProjectView:
    """Without a workshop, whether it is being worked on is not known."""
    seen = _contents(project)
    row = row_of(shop, seen.info)
    status, info = as_it_is(row, seen.status, seen.info)
    state = _state(status, info, busy=shop is not None and _at_work(shop, row, info, status.phase), rounds=seen.rounds)
    outline = _outline(info.outline, status.phase)
    queued = state.busy and row is not None and row.state in _QUEUED
    place = _queue_place(shop, row) if shop is not None and row is not None and queued else None
    label = STOPPED if _is_stopped(info, status) else _label(status, outline, info)
    return ProjectView(
        id=project.id,
        name=seen.name,
        directory=str(project.directory),
        phase=str(status.phase),
        halt_reason=status.halt_reason,
        deliverable_type=status.deliverable_type,
        agent=status.agent,
        busy=state.busy,
        waiting=state.waiting,
        question=info.waiting.text if info.waiting else "",
        open_questions=tuple(item["question"] for item in info.open),
        actions=tuple(map(str, actions.allowed(state))),
        rounds=seen.rounds,
        tests=seen.tests,
        repository=info.repository,
        branch=info.branch if info.baseline else None,
        deliverable=_deliverable(project, seen),
        created_at=status.created_at,
        updated_at=max(status.updated_at, seen.last_saved),
        phase_times=_times(info, status.phase),
        archived=info.archived,
        queued=queued,
        queue_place=place,
        problem=_problem(row, status.phase),
        trouble=_trouble(project) if state.busy else "",
        label=label if place is None else f"{label} · number {place} in the queue",
        outline=outline,
        scene_question=QUESTION if info.scene_asked and status.phase is Phase.BRAIN_DUMP else "",
        offers=offers(state),
        stuck=_stuck(info) if state.waiting == "stuck" else None,
    )


def _stuck(info: ProjectInfo) -> Json | None:
    waiting = info.waiting
    if waiting is None:
        return None
    return {
        "cause": waiting.cause or "",
        "question": waiting.text,
        "options": list(waiting.options),
        "tests": list(waiting.tests),
        "explanation": waiting.explanation or "",
    }


def _outline(known: Mapping[str, Any] | None, phase: Phase) -> Json | None:
    if not known:
        return None
    connect = [{"way": way, "about": about} for way, about in WAYS.items()]
    return {**known, "accepted": phase is Phase.DONE, "note": str(NOTE), "connect": connect}


def _trouble(project: Project) -> str:
    """Told by the last line of the log: whatever is written after it, the trouble is over."""
    last = project.log.last() or {}
    is_retry = (last.get("level"), last.get("event")) == (log.Level.WARN, "agent_call")
    return str(last.get("detail", "")) if is_retry else ""


def _is_stopped(info: ProjectInfo, status: ProjectStatus) -> bool:
    failed = info.waiting.failed if info.waiting else None
    return status.phase is Phase.HALTED and failed is not None and failed.code == WorkStopped.code


def _label(status: ProjectStatus, outline: Json | None, info: ProjectInfo) -> str:
    if outline is not None and not status.terminated:
        return label(outline, accepted=outline["accepted"])
    if status.halt_reason and not status.terminated:
        return f"Halted: {reason_in_words(status.halt_reason)}"
    if status.phase is Phase.DONE and info.tests_unproven:
        return "Done, tests unproven"
    return "Terminated" if status.terminated else PHASES[str(status.phase)]


def state_of(shop: Workshop | None, project: Project, draft: Draft | None = None) -> ActionState:
    """What decides which actions are possible."""
    status = draft.status if draft else project.status()
    info = draft.info if draft else project.info()
    row = row_of(shop, info)
    status, info = as_it_is(row, status, info)
    busy = shop is not None and _at_work(shop, row, info, status.phase)
    return _state(status, info, busy=busy, rounds=rounds_of(project))


def _state(status: ProjectStatus, info: ProjectInfo, *, busy: bool, rounds: tuple[Json, ...]) -> ActionState:
    return ActionState(
        status.phase,
        status.halt_reason,
        info.halted_in,
        stuck=info.waiting is not None and info.waiting.kind == "stuck",
        busy=busy,
        unresolved=len(info.open),
        rounds=len(rounds),
        outline=bool(info.outline),
    )


def row_of(shop: Workshop | None, info: ProjectInfo) -> RunRow | None:
    """Of the run that a project names."""
    if shop is None or info.run is None:
        return None
    try:
        return shop.engine.status(info.run.id)
    except RunUnknown:
        return None


def _at_work(shop: Workshop, row: RunRow | None, info: ProjectInfo, phase: Phase) -> bool:
    """Only an open decision means that a run waits: in the file, one stays until the run has read the answer."""
    run = info.run
    if row is None:
        # Named a moment ago, about to begin.
        return run is not None and not run.ended and KINDS.get(phase) == run.kind
    return not row.has_ended and not shop.engine.open_questions(run_id=row.id, kind=QuestionKind.DECISION)


def _queue_place(shop: Workshop, row: RunRow) -> int:
    """Builds wait in the order in which they were asked for."""
    waiting = [each.id for each in shop.engine.runs(states=_QUEUED, name=row.name, limit=_MOST_QUEUED)]
    return len(waiting) - waiting.index(row.id) if row.id in waiting else 1


def _problem(row: RunRow | None, phase: Phase) -> str:
    stopped = phase in (Phase.DONE, Phase.HALTED)
    return "" if stopped or row is None or row.error is None or row.state == "cancelled" else told(row)


def rounds_of(project: Project) -> tuple[Json, ...]:
    return lines_of(project, ROUNDS)


def lines_of(project: Project, path: str) -> tuple[Json, ...]:
    try:
        return fields.loaded_lines(project.records.read(path) or "", path)
    except InvalidRecord:
        project.records.restore()
        return fields.loaded_lines(project.records.read(path) or "", path)


def _documents(info: ProjectInfo) -> tuple[str, ...]:
    return (OUTLINE,) if info.outline else (PLAN,)


def last_tests(lines: Sequence[Json]) -> Json | None:
    """The last of the recorded runs, with what failed by name and what is missing."""
    if not lines:
        return None
    counts = {"total": 0, "passed": 0, "failed": 0}
    run = TestResults.from_json({**counts, **lines[-1], "details": "", "results": {}})
    return {
        "total": run.total,
        "passed": run.passed,
        "failed": run.failed,
        "exit_code": run.exit_code,
        "commit": run.commit,
        "command": run.command,
        "outcome": run.outcome or ("passed" if run.all_pass else "failed"),
        "skipped": run.skipped,
        "new_failures": list(run.new_failures),
        "known_failures": list(run.known),
        "flaky": list(run.flaky),
        "missing": run.missing,
        "supply": SUPPLY if run.cannot_run else "",
    }


def _deliverable(project: Project, seen: _Contents) -> str | None:
    if seen.status.deliverable_type == "code":
        return seen.info.branch if seen.info.baseline else None
    return str(project.directory / seen.document) if seen.document else None


def _times(info: ProjectInfo, phase: Phase) -> Json:
    times = dict(info.phase_times)
    if phase is not Phase.DONE and info.phase_entered is not None:
        times[str(phase)] = round(times.get(str(phase), 0.0) + max(0.0, time.time() - info.phase_entered), 3)
    return times
