"""What a branch needs to run: shown, approved by a person, set up in the background."""

from __future__ import annotations

from typing import Any

from forge.api.http.codes import ENVIRONMENT, LOOKING, REPOSITORY, together
from forge.api.http.dependencies import Asking, Shop
from forge.api.http.parameters import Branch, Repo
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.shapes import environments as shapes
from forge.app.repositories import environment_access

router = router_for("/repositories/{repository}/environment")

_ENDS = may_end(together(REPOSITORY, LOOKING, ENVIRONMENT))


@router.get("", tags=["environments"], response_model=shapes.EnvironmentShape, responses=_ENDS)
def show_environment(shop: Shop, who: Asking, *, repository: Repo, branch: Branch) -> Any:
    """What the branch needs, whether it is approved, and whether it is set up."""
    return environment_access.show_environment(shop, who, repository, branch)


@router.get("/log", tags=["environments"], response_model=shapes.EnvironmentLogShape, responses=_ENDS)
def show_environment_log(shop: Shop, who: Asking, *, repository: Repo, branch: Branch) -> Any:
    """The end of what the setup printed, also while it runs."""
    return {"lines": environment_access.environment_log(shop, who, repository, branch)}


@router.post("/approve", tags=["environments"], response_model=shapes.EnvironmentShape, responses=_ENDS)
def approve_environment(
    shop: Shop, who: Asking, *, repository: Repo, branch: Branch, body: shapes.EnvironmentApproval
) -> Any:
    """Approve what the branch proposes, and set it up in the background. Requires the scopes `write` and `run`."""
    return environment_access.approve_environment(shop, who, repository, branch, expected=body.hash)


@router.post("/setup", tags=["environments"], response_model=shapes.EnvironmentShape, responses=_ENDS)
def set_up_environment(shop: Shop, who: Asking, *, repository: Repo, branch: Branch) -> Any:
    """Set an approved environment up in the background. `EnvironmentChanged` tells how far it is."""
    return environment_access.set_up_environment(shop, who, repository, branch)


@router.delete("", tags=["environments"], response_model=shapes.EnvironmentShape, responses=_ENDS)
def clear_environment(shop: Shop, who: Asking, *, repository: Repo, branch: Branch) -> Any:
    """Remove the layer of the branch, if no command uses it."""
    return environment_access.clear_environment(shop, who, repository, branch)
