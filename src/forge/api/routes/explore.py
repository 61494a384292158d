"""The explorer of a project: what is known, changes by hand, the next answer."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Response

from forge.api.http.dependencies import Asking, Shop
from forge.api.http.parameters import Project
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.routes.projects import Key
from forge.api.shapes import explore as shapes
from forge.app.projects import exploration, exploration_export, exploration_turn

router = router_for("/projects/{project}/explore", tag="projects")

_MISSING = {404: ["project_missing"]}
Name = Annotated[str, Path(min_length=1, max_length=80)]
_CHANGED = {409: ["project_busy"], 502: ["project_unwritable"]}


@router.get("", response_model=shapes.ExplorationShape, responses=may_end(_MISSING))
def show_exploration(shop: Shop, who: Asking, *, project: Project) -> Any:
    """What is known so far: problem, assumptions with their risk, stakeholders, probes, verdict."""
    return exploration.show(shop, who, project)


@router.get("/tools", response_model=shapes.ExplorationToolsShape, responses=may_end(_MISSING))
def list_exploration_tools(shop: Shop, who: Asking, *, project: Project) -> Any:
    """The changes that can be made, with the arguments that each takes."""
    return {"tools": exploration.list_tools(shop, who, project)}


@router.get(
    "/exports/{name}",
    response_class=Response,
    responses={
        **may_end({404: ["project_missing", "export_missing"], 422: ["request_invalid", "font_missing"]}),
        200: {"description": "The file.", "content": {"application/octet-stream": {"schema": {"type": "string"}}}},
    },
)
def export_exploration(shop: Shop, who: Asking, *, project: Project, name: Name) -> Response:
    """Download a brief, the register or a view of it.

    Briefs: `problem_brief.md`, `.docx`, `.pdf`. Register: `assumptions.csv`, `.md`. Views: `matrix.svg`, `tree.svg`,
    `dependencies.svg`.
    """
    made = exploration_export.export(shop, who, project, name)
    headers = {"Content-Disposition": f'attachment; filename="{made.name}"', "X-Content-Type-Options": "nosniff"}
    return Response(made.data, media_type=made.media_type, headers=headers)


@router.post(
    "/turns",
    status_code=202,
    response_model=shapes.ExplorationTurnShape,
    responses=may_end(
        {
            404: ["project_missing", "repository_missing"],
            409: ["press_reused", "project_busy"],
            422: ["request_invalid", "exploration_closed", "nothing_said", "answer_refused"],
            502: ["project_unwritable", "project_unreadable"],
        }
    ),
)
async def answer_exploration(
    shop: Shop,
    who: Asking,
    *,
    project: Project,
    body: shapes.NewExplorationTurn | None = None,
    idempotency_key: Key = None,
) -> Any:
    """Say something and let the explorer answer; without a body, it answers what was said before."""
    given = body or shapes.NewExplorationTurn()
    return await exploration_turn.explore(shop, who, project, given.text, about=given.about, action_id=idempotency_key)


@router.post("/stop", response_model=shapes.ExplorationShape, responses=may_end(_MISSING))
async def stop_exploring(shop: Shop, who: Asking, *, project: Project) -> Any:
    """End the turn under way, if there is one. What was said stays and can be answered later."""
    return await exploration.stop(shop, who, project)


@router.post(
    "/changes",
    response_model=shapes.ExplorationChangedShape,
    responses=may_end(
        {
            **_CHANGED,
            404: ["project_missing", "exploration_tool_unknown"],
            422: ["request_invalid", "exploration_change_refused"],
        }
    ),
)
def change_exploration(shop: Shop, who: Asking, *, project: Project, body: shapes.NewExplorationChange) -> Any:
    """Make one change yourself, recorded with its reason like those of the explorer."""
    text = exploration.change(shop, who, project, body.tool, body.arguments)
    return {"text": text, "exploration": exploration.show(shop, who, project)}


@router.put(
    "/mode",
    response_model=shapes.ExplorationShape,
    responses=may_end({**_MISSING, **_CHANGED, 422: ["request_invalid", "exploration_change_refused"]}),
)
def enter_mode(shop: Shop, who: Asking, *, project: Project, body: shapes.NewExplorationMode) -> Any:
    """Accept the mode that is proposed, or enter another one."""
    exploration.enter_mode(shop, who, project, body.mode)
    return exploration.show(shop, who, project)


@router.post(
    "/brain-dump",
    response_model=shapes.HandedOverShape,
    responses=may_end({**_MISSING, **_CHANGED, 422: ["exploration_closed", "exploration_change_refused"]}),
)
def hand_over_exploration(shop: Shop, who: Asking, *, project: Project) -> Any:
    """Make the exploration the brain dump: the intent shows where each line came from."""
    text = exploration.hand_over(shop, who, project)
    return {"text": text, "exploration": exploration.show(shop, who, project)}
