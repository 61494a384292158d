"""What is remembered of a project's work: read, and written as `forge memory` does."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Header, Path, Query

from forge.api.http.dependencies import Asking, Shop
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.shapes import memory as shapes
from forge.app.admin.memory import NoteKind, add, status_named
from forge.app.projects import project_memory

router = router_for("/memory", tag="memory")

Project = Annotated[str, Query(min_length=1, max_length=200, examples=["20261116-4f2a"])]
Milestone = Annotated[str, Path(min_length=1, max_length=200, examples=["M2"])]
Key = Annotated[str | None, Header(alias="Idempotency-Key", max_length=200)]
_MISSING = {404: ["project_missing"]}
_LINE = {**_MISSING, 422: ["invalid_input"], 502: ["project_unwritable"]}
_CHANGE = {**_LINE, 404: ["project_missing", "initiative_missing"], 409: ["initiative_status_refused"]}
_MILESTONE = {**_CHANGE, 404: [*_CHANGE[404], "milestone_missing"]}


@router.get("", response_model=shapes.MemoryShape, responses=may_end(_MISSING))
def read_memory(shop: Shop, who: Asking, *, project: Project) -> Any:
    """What is remembered of a project's work, and which source ruled."""
    return project_memory.recalled(shop, who, project)


@router.post("/lines", response_model=shapes.RememberedShape, responses=may_end(_LINE))
def add_memory_line(
    shop: Shop, who: Asking, *, project: Project, body: shapes.NewLine, idempotency_key: Key = None
) -> Any:
    """Add a learning or a delegation to MEMORY.md."""
    kind = NoteKind[body.kind.upper()]
    return project_memory.change(
        shop, who, project, body.kind, lambda memory: add(memory, body.text, kind, step=idempotency_key)
    )


@router.post(
    "/initiative",
    response_model=shapes.RememberedShape,
    responses=may_end({**_LINE, 409: ["initiative_active"], 422: ["invalid_input", "workflow_unknown"]}),
)
def start_initiative(
    shop: Shop, who: Asking, *, project: Project, body: shapes.NewInitiative, idempotency_key: Key = None
) -> Any:
    """Begin an initiative. The one before must be completed."""
    return project_memory.change(
        shop,
        who,
        project,
        "start",
        lambda memory: memory.start(body.title, body.type, body.context, step=idempotency_key),
    )


@router.post(
    "/checkpoints",
    response_model=shapes.RememberedShape,
    responses=may_end({**_CHANGE, 422: ["invalid_input", "phase_unknown"]}),
)
def add_checkpoint(
    shop: Shop, who: Asking, *, project: Project, body: shapes.NewCheckpoint, idempotency_key: Key = None
) -> Any:
    """Continue to the next phase, with a checkpoint in MEMORY.md."""
    return project_memory.change(
        shop,
        who,
        project,
        "checkpoint",
        lambda memory: memory.advance(body.done, body.next, body.context, step=idempotency_key),
    )


@router.put("/status", response_model=shapes.RememberedShape, responses=may_end(_CHANGE))
def change_memory_status(
    shop: Shop, who: Asking, *, project: Project, body: shapes.NewStatus, idempotency_key: Key = None
) -> Any:
    """Change the status of the initiative: created → in_progress ⇄ blocked, → completed → archived."""
    return project_memory.change(
        shop,
        who,
        project,
        "status",
        lambda memory: memory.change_status(status_named(body.status), reason=body.reason, step=idempotency_key),
    )


@router.put("/milestones/{milestone}", response_model=shapes.RememberedShape, responses=may_end(_CHANGE))
def start_milestone(
    shop: Shop,
    who: Asking,
    *,
    project: Project,
    milestone: Milestone,
    body: shapes.NewMilestone,
    idempotency_key: Key = None,
) -> Any:
    """Begin a milestone of the initiative."""
    return project_memory.change(
        shop,
        who,
        project,
        "milestone",
        lambda memory: memory.milestone_started(milestone, body.title, total=body.tasks, step=idempotency_key),
    )


@router.post("/milestones/{milestone}/complete", response_model=shapes.RememberedShape, responses=may_end(_MILESTONE))
def complete_milestone(
    shop: Shop, who: Asking, *, project: Project, milestone: Milestone, idempotency_key: Key = None
) -> Any:
    """Complete a milestone; the next one is current then."""
    return project_memory.change(
        shop, who, project, "milestone", lambda memory: memory.milestone_completed(milestone, step=idempotency_key)
    )


@router.post("/milestones/{milestone}/tasks", response_model=shapes.RememberedShape, responses=may_end(_MILESTONE))
def complete_task(
    shop: Shop, who: Asking, *, project: Project, milestone: Milestone, idempotency_key: Key = None
) -> Any:
    """Count one more task of a milestone as done."""
    return project_memory.change(
        shop, who, project, "task", lambda memory: memory.task_completed(milestone, step=idempotency_key)
    )


@router.post("/confidence", response_model=shapes.RememberedShape, responses=may_end(_LINE))
def add_confidence(
    shop: Shop, who: Asking, *, project: Project, body: shapes.NewConfidence, idempotency_key: Key = None
) -> Any:
    """Note how sure somebody is of a topic; the history is kept."""
    return project_memory.change(
        shop,
        who,
        project,
        "confidence",
        lambda memory: memory.confidence(body.topic, body.value, body.source, step=idempotency_key),
    )


@router.post("/resume", response_model=shapes.ResumedShape, responses=may_end(_LINE))
def resume_memory(shop: Shop, who: Asking, *, project: Project) -> Any:
    """Find out the state of the work, and bring the sources that disagree up to the newest one."""
    return project_memory.change(shop, who, project, "resume", lambda memory: memory.resume())
