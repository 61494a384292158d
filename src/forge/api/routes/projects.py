"""Projects: create, list and change them, send messages and perform actions."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Header, Path, Query

from forge.api.http.codes import together
from forge.api.http.dependencies import Asking, Part, Shop, in_pages
from forge.api.http.parameters import Project
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.shapes import projects as shapes
from forge.api.shapes.base import Page
from forge.api.shapes.repositories import TestCommandChange
from forge.app import demo
from forge.app.projects import project_access, project_tests
from forge.app.projects.messages import Given

router = router_for("/projects", tag="projects")

Key = Annotated[
    str | None,
    Header(alias="Idempotency-Key", max_length=200, description="Names this request: sent again, it changes nothing."),
]
_MISSING = {404: ["project_missing"]}
_PAGED = {422: ["request_invalid", "invalid_page"]}
_ACTED = {
    404: ["project_missing", "repository_missing"],
    409: ["action_refused", "press_reused", "project_busy"],
    422: [
        "request_invalid",
        "confirmation_needed",
        "brain_dump_too_short",
        "answer_refused",
        "nothing_said",
        "builtin_cannot",
    ],
    502: ["project_unwritable", "project_unreadable"],
}
_ANSWERING = {403: ["key_missing"], 422: ["invalid_input", "model_unknown", "program_missing"]}


@router.get("", response_model=Page[shapes.ProjectShape], responses={**may_end(), **in_pages(shapes.ProjectShape)})
def list_projects(shop: Shop, who: Asking, *, part: Part, archived: bool = False) -> Any:
    """Projects that you may see, by id."""
    return part.given(
        shapes.ProjectShape,
        lambda after, limit: project_access.list_projects(shop, who, archived=archived, after=after, limit=limit),
    )


@router.post(
    "",
    status_code=201,
    response_model=shapes.ProjectShape,
    responses=may_end(
        {
            **_ANSWERING,
            404: ["project_missing", "repository_missing"],
            409: ["project_exists"],
            422: [*_ANSWERING[422], "deliverable_type_unknown", "invalid_project_name", "builtin_cannot"],
            502: ["project_unwritable"],
        }
    ),
)
async def create_project(shop: Shop, who: Asking, *, body: shapes.NewProject) -> Any:
    """A new project. Say something to it next."""
    return await project_access.create_project(
        shop,
        who,
        body.name,
        agent=body.agent,
        repository_id=body.repository,
        after=body.after,
        deliverable_type=body.deliverable_type,
    )


@router.post(
    "/example",
    status_code=201,
    response_model=shapes.ProjectShape,
    responses=may_end({502: ["demo_failed", "project_unwritable"]}),
)
async def run_example(shop: Shop, who: Asking) -> Any:
    """Begin the example: a brain dump that becomes a tested branch. Recorded answers stand in for a model."""
    return await demo.run_example(shop, who)


@router.get("/{project}", response_model=shapes.ProjectShape, responses=may_end(_MISSING))
def show_project(shop: Shop, who: Asking, *, project: Project) -> Any:
    """A project as it is now, with the actions that are possible."""
    return project_access.show_project(shop, who, project)


@router.patch(
    "/{project}",
    response_model=shapes.ProjectShape,
    responses=may_end(
        {
            **_MISSING,
            409: ["project_busy"],
            422: ["invalid_record", "invalid_project_name"],
            502: ["project_unwritable"],
        }
    ),
)
def change_project(shop: Shop, who: Asking, *, project: Project, body: shapes.ProjectChange) -> Any:
    """Rename a project, or take it into the archive and out again."""
    return project_access.change_project(shop, who, project, name=body.name, archived=body.archived)


@router.delete(
    "/{project}",
    response_model=shapes.DeletedProject,
    responses=may_end({**_MISSING, 409: ["project_busy"], 422: ["deletion_unconfirmed"], 502: ["project_unwritable"]}),
)
def delete_project(
    shop: Shop,
    who: Asking,
    *,
    project: Project,
    confirm: Annotated[str, Query(max_length=300, description="The name of its directory, repeated.")],
) -> Any:
    """Move a project into the folder `deleted` of the workspace."""
    return {"kept": str(project_access.delete_project(shop, who, project, confirm=confirm))}


@router.get(
    "/{project}/messages",
    response_model=Page[shapes.MessageShape],
    responses={**may_end({**_MISSING, **_PAGED}), **in_pages(shapes.MessageShape)},
)
def list_project_messages(shop: Shop, who: Asking, *, project: Project, part: Part) -> Any:
    """The chat of a project, oldest first."""
    return part.given(
        shapes.MessageShape, lambda after, limit: project_access.messages(shop, who, project, after=after, limit=limit)
    )


@router.get(
    "/{project}/earlier-messages",
    response_model=Page[shapes.MessageShape],
    responses={**may_end({**_MISSING, **_PAGED}), **in_pages(shapes.MessageShape)},
)
def list_earlier_messages(shop: Shop, who: Asking, *, project: Project, part: Part) -> Any:
    """What was said before the chat was cleared by a confirmation, oldest first."""
    return part.given(
        shapes.MessageShape,
        lambda after, limit: project_access.earlier_messages(shop, who, project, after=after, limit=limit),
    )


@router.post("/{project}/messages", status_code=202, response_model=shapes.ActionResultShape, responses=may_end(_ACTED))
async def say_to_project(
    shop: Shop, who: Asking, *, project: Project, body: shapes.NewMessage, idempotency_key: Key = None
) -> Any:
    """Say something to a project: more of the brain dump, a correction, an answer, or input for a stuck build."""
    given = tuple(Given(each.question, each.text, each.delegated) for each in body.answers)
    return await project_access.say(
        shop, who, project, body.text, given=given, about=body.about, action_id=idempotency_key, explores=body.explore
    )


@router.post(
    "/{project}/actions/{action}",
    status_code=202,
    response_model=shapes.ActionResultShape,
    responses=may_end(together(_ACTED, _ANSWERING)),
)
async def perform_action(
    shop: Shop,
    who: Asking,
    *,
    project: Project,
    action: shapes.Action,
    body: shapes.ActionOptions | None = None,
    idempotency_key: Key = None,
) -> Any:
    """Perform an action on a project. Its run needs no client and publishes events in the project's topic."""
    given = body or shapes.ActionOptions()
    return await project_access.perform(
        shop,
        who,
        project,
        action,
        text=given.text,
        confirmed=given.confirmed,
        action_id=idempotency_key,
        agent=given.agent,
        delegated=given.delegated,
    )


@router.post(
    "/{project}/press/{action}",
    status_code=202,
    response_model=shapes.ActionResultShape,
    responses=may_end(together(_ACTED, _ANSWERING)),
    deprecated=True,
)
async def press_action(
    shop: Shop,
    who: Asking,
    *,
    project: Project,
    action: shapes.Action,
    body: shapes.ActionOptions | None = None,
    idempotency_key: Key = None,
) -> Any:
    """The same as `perform_action`, under its name before; for clients that are generated from this description."""
    return await perform_action(shop, who, project=project, action=action, body=body, idempotency_key=idempotency_key)


@router.get(
    "/{project}/runs/{run}",
    response_model=shapes.ProjectRunShape,
    responses=may_end({404: ["project_missing", "run_unknown"]}),
)
async def show_project_run(
    shop: Shop,
    who: Asking,
    *,
    project: Project,
    run: Annotated[str, Path(max_length=200)],
    wait: Annotated[float, Query(ge=0, le=20, description="Seconds to wait for its end or its question.")] = 0,
) -> Any:
    """Whether a run of the project has ended or waits for a person."""
    return await project_access.project_run(shop, who, project, run, wait=wait)


@router.post(
    "/{project}/stop",
    response_model=shapes.ProjectShape,
    responses=may_end({**_MISSING, 409: ["nothing_to_stop"], 502: ["project_unwritable", "still_working"]}),
)
async def stop_project_work(shop: Shop, who: Asking, *, project: Project) -> Any:
    """Stop what Forge does with a project. It halts; `resume` continues, with another `agent` if you like."""
    return await project_access.stop_work(shop, who, project)


@router.get(
    "/{project}/tests",
    response_model=shapes.ProjectTestsShape,
    responses=may_end({**_MISSING, 404: ["project_missing", "repository_missing"]}),
)
def show_project_tests(shop: Shop, who: Asking, *, project: Project) -> Any:
    """The command that runs the tests, the last run, and the run before the work."""
    return project_tests.project_tests(shop, who, project)


@router.put(
    "/{project}/tests",
    response_model=shapes.ProjectTestsShape,
    responses=may_end(
        {404: ["project_missing", "repository_missing"], 422: ["invalid_input"], 502: ["project_unwritable"]}
    ),
)
def set_project_test_command(shop: Shop, who: Asking, *, project: Project, body: TestCommandChange) -> Any:
    """Set the command that runs the tests of this project."""
    return project_tests.set_test_command(shop, who, project, body.command)


@router.post(
    "/{project}/tests/accept",
    response_model=shapes.AcceptedTests,
    responses=may_end({**_MISSING, 422: ["invalid_input"], 502: ["project_unwritable"]}),
)
def accept_tests(shop: Shop, who: Asking, *, project: Project) -> Any:
    """The tests of the last run are enough, although there are fewer than before."""
    return project_access.accept_tests(shop, who, project)
