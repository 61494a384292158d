"""Contracts of a project: what a build is held to, read, edited and checked."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query

from forge.api.http.dependencies import Asking, Part, Shop, in_pages
from forge.api.http.parameters import ContractType, Project
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.shapes import contracts as shapes
from forge.api.shapes.base import Page
from forge.app.projects import contract_leaks, contracts

router = router_for("/projects/{project}/contracts", tag="contracts")

Number = Annotated[int, Path(ge=-1_000_000, le=1_000_000, examples=[0])]
Version = Annotated[int | None, Query(ge=1, le=1_000_000)]
_READ = {404: ["project_missing"], 409: ["project_busy"], 502: ["project_unwritable", "project_unreadable"]}
_ONE = {**_READ, 404: ["project_missing", "contract_unknown"]}
_OF_VERSIONS = {**_READ, 404: [*_ONE[404], "contract_missing", "version_missing"]}
_CHANGE = {
    **_ONE,
    403: ["shared_for_reading"],
    409: ["project_busy", "contract_changed"],
    422: ["request_invalid", "contract_malformed"],
}


@router.get("", response_model=shapes.ContractsShape, responses=may_end(_READ))
def list_contracts(shop: Shop, who: Asking, *, project: Project) -> Any:
    """All nine contracts with version and state."""
    return contracts.list_contracts(shop, who, project)


@router.get("/summary", response_model=shapes.SummaryShape, responses=may_end(_READ))
def summarize_contracts(shop: Shop, who: Asking, *, project: Project) -> Any:
    """One line for each contract, the layers and the invariants."""
    return contracts.summarize(shop, who, project)


@router.get("/check", response_model=shapes.CheckedShape, responses=may_end(_READ))
def check_contracts(
    shop: Shop,
    who: Asking,
    *,
    project: Project,
    mini: Annotated[bool, Query(description="Expect exactly two phases.")] = False,
) -> Any:
    """Check all contracts, each alone and against the others."""
    return contracts.check_contracts(shop, who, project, mini=mini)


@router.post("/check", response_model=shapes.CheckedShape, responses=may_end(_READ))
def check_drafts(shop: Shop, who: Asking, *, project: Project, body: shapes.Drafts) -> Any:
    """Check texts that are not saved yet. Nothing is written."""
    drafts = {str(name): text for name, text in body.documents.items()}
    return contracts.check_contracts(shop, who, project, drafts=drafts, mini=body.mini)


@router.get(
    "/leaks",
    response_model=shapes.LeakReportShape,
    responses=may_end(
        {
            **_READ,
            404: [
                "project_missing",
                "nothing_delivered",
                "batch_missing",
                "repository_missing",
                "branch_missing",
                "revision_missing",
            ],
            422: ["request_invalid", "invalid_input"],
        }
    ),
)
def find_contract_leaks(
    shop: Shop,
    who: Asking,
    *,
    project: Project,
    repository: Annotated[
        str | None, Query(max_length=100, description="A repository by its id; else the one of the project.")
    ] = None,
    branch: Annotated[str | None, Query(max_length=500, description="Else the branch that the project builds.")] = None,
    at: Annotated[str | None, Query(max_length=500, description="A commit instead of a branch.")] = None,
    batch: Annotated[
        int | None, Query(ge=1, le=1_000_000, description="The pinned set; else today's contracts.")
    ] = None,
) -> Any:
    """Find contract text, names of contracts and metadata of Forge in delivered files."""
    wanted = contract_leaks.Delivered(branch, at, batch)
    return contract_leaks.find_leaks(shop, who, project, wanted, repository=repository)


@router.get(
    "/window/{number}",
    response_model=shapes.WindowShape,
    responses=may_end({**_READ, 404: ["project_missing", "contract_missing", "phase_missing"]}),
)
def read_phase_window(shop: Shop, who: Asking, *, project: Project, number: Number) -> Any:
    """A phase and the one after it."""
    return contracts.read_window(shop, who, project, number)


@router.get(
    "/schema/{contract_type}",
    response_model=dict[str, Any],
    responses=may_end({404: ["project_missing", "contract_unknown"]}),
)
def read_contract_schema(shop: Shop, who: Asking, *, project: Project, contract_type: ContractType) -> Any:
    """The JSON Schema of a contract, or the sections that a Markdown one needs."""
    return contracts.read_schema(shop, who, project, contract_type)


@router.get(
    "/history/{batch}",
    response_model=shapes.PinnedSetShape,
    responses=may_end({**_READ, 404: ["project_missing", "batch_missing", "contract_unknown"]}),
)
def read_pinned_contracts(
    shop: Shop,
    who: Asking,
    *,
    project: Project,
    batch: Annotated[int, Path(ge=1, le=1_000_000)],
    types: Annotated[list[str] | None, Query(max_length=9, description="Only these contracts.")] = None,
) -> Any:
    """The contracts as they were pinned."""
    return contracts.read_pinned(shop, who, project, batch, types or ())


@router.get("/{contract_type}", response_model=shapes.ContractShape, responses=may_end(_OF_VERSIONS))
def read_contract(
    shop: Shop, who: Asking, *, project: Project, contract_type: ContractType, version: Version = None
) -> Any:
    """A whole contract; the template where the project has none, which `source` says."""
    return contracts.read_contract(shop, who, project, contract_type, version=version)


@router.put("/{contract_type}", response_model=shapes.ContractShape, responses=may_end(_CHANGE))
def edit_contract(
    shop: Shop, who: Asking, *, project: Project, contract_type: ContractType, body: shapes.ContractEdit
) -> Any:
    """Save a contract as a new version, over the text that the edit began with."""
    return contracts.edit_contract(shop, who, project, contract_type, body.content, expected=body.etag)


@router.get(
    "/{contract_type}/versions",
    response_model=Page[shapes.ContractVersionShape],
    responses={
        **may_end({**_OF_VERSIONS, 422: ["request_invalid", "invalid_page"]}),
        **in_pages(shapes.ContractVersionShape),
    },
)
def list_contract_versions(
    shop: Shop, who: Asking, *, project: Project, contract_type: ContractType, part: Part
) -> Any:
    """When and by whom a contract was changed, newest first."""
    return part.given(
        shapes.ContractVersionShape,
        lambda after, limit: contracts.list_versions(shop, who, project, contract_type, after=after, limit=limit),
    )


@router.get("/{contract_type}/diff", response_model=shapes.ContractDiffShape, responses=may_end(_OF_VERSIONS))
def diff_contract(
    shop: Shop, who: Asking, *, project: Project, contract_type: ContractType, old: Version = None, new: Version = None
) -> Any:
    """What changed between two versions; in the newest one, if none is named."""
    return contracts.diff_contract(shop, who, project, contract_type, old=old, new=new)


@router.post(
    "/{contract_type}/restore",
    response_model=shapes.ContractShape,
    responses=may_end({**_CHANGE, 404: [*_ONE[404], "version_missing"]}),
)
def restore_contract(
    shop: Shop, who: Asking, *, project: Project, contract_type: ContractType, body: shapes.Restored
) -> Any:
    """Make an earlier version the newest one."""
    return contracts.restore_contract(shop, who, project, contract_type, body.version)
