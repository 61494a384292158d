"""Test runs of branches: begun, shown, cancelled."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query

from forge.api.http.codes import ENVIRONMENT, LOOKING, REPOSITORY, together
from forge.api.http.dependencies import Asking, Shop
from forge.api.http.parameters import Branch, Repo
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.shapes import test_runs as shapes
from forge.app.repositories import test_workflow
from forge.app.repositories.test_runs import SECONDS

router = router_for("/repositories/{repository}", tag="branches")
_LOOKED = may_end(together(REPOSITORY, LOOKING))


@router.get("/tests/runs", response_model=shapes.TestsOfBranchShape, responses=_LOOKED)
def show_test_runs(shop: Shop, who: Asking, *, repository: Repo, branch: Branch) -> Any:
    """The last test run of a branch, test by test, and the one that is under way."""
    return test_workflow.tests_on(shop, who, repository, branch)


@router.post(
    "/tests/runs",
    status_code=202,
    response_model=shapes.TestRunBegunShape,
    responses=may_end(together(REPOSITORY, LOOKING, {422: ("invalid_input",)})),
)
async def begin_test_run(shop: Shop, who: Asking, *, repository: Repo, branch: Branch, body: shapes.NewTestRun) -> Any:
    """Run the tests of a branch in the sandbox. The same files are tested once by the same command."""
    return await test_workflow.begin_tests(
        shop,
        who,
        repository,
        branch,
        pattern=body.pattern.strip(),
        fresh=body.again,
        seconds=body.seconds or SECONDS,
    )


@router.get(
    "/tests/runs/{run}",
    response_model=shapes.TestRunStateShape,
    responses=may_end(
        together(
            REPOSITORY,
            LOOKING,
            ENVIRONMENT,
            {404: ("run_unknown",), 409: ("run_cancelled",), 422: ("no_tests", "invalid_input")},
        )
    ),
)
async def show_test_run(
    shop: Shop,
    who: Asking,
    *,
    repository: Repo,
    run: Annotated[str, Path(max_length=64)],
    branch: Branch,
    wait: Annotated[float, Query(ge=0, le=20, description="Seconds to wait for its end.")] = 0,
) -> Any:
    """How a test run has ended. An error that kept it from ending is given as a problem."""
    return await test_workflow.test_run(shop, who, repository, branch, run, wait=wait)


@router.post("/tests/cancel", response_model=shapes.TestsCancelledShape, responses=_LOOKED)
async def cancel_test_run(shop: Shop, who: Asking, *, repository: Repo, branch: Branch) -> Any:
    """End the test run of a branch, wherever it runs."""
    return {"cancelled": await test_workflow.cancel_tests(shop, who, repository, branch)}
