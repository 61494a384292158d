"""What MCP tools read of contracts, for programs that speak plain HTTP."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query

from forge.api.http.dependencies import Asking, Shop
from forge.api.http.parameters import ContractType, Project
from forge.api.http.problems import may_end
from forge.api.http.routing import router_for
from forge.api.shapes import agent_context as shapes
from forge.app.access.identity import Who
from forge.app.projects.contract_reads import ContractReader, Reader, build_scope

router = router_for("/mcp", tag="contracts")

Build = Annotated[str, Path(max_length=100, examples=["20261116-4f2a@1"])]
_READ = {404: ["project_missing"], 409: ["project_busy"], 502: ["project_unwritable", "project_unreadable"]}


@router.get("/context/{project}", response_model=shapes.AgentContextShape, responses=may_end(_READ))
def show_agent_context(shop: Shop, who: Asking, *, project: Project) -> Any:
    """A project and the contracts that it has, without their texts."""
    found = ContractReader(shop, _reader(who), project=project).context()
    return {
        "project": {"id": found.id, "name": found.name, "status": found.status},
        "contracts": found.contracts,
        "latest_batch": found.latest_batch,
        "build_count": found.build_count,
    }


@router.get(
    "/context/{project}/{contract_type}",
    response_model=shapes.ContractReadShape,
    responses=may_end(
        {**_READ, 404: ["project_missing", "contract_unknown"], 422: ["request_invalid", "phases_whole"]}
    ),
)
def read_agent_contract(shop: Shop, who: Asking, *, project: Project, contract_type: ContractType) -> Any:
    """One contract as agents read it; the template where the project has none, which `source` says."""
    return ContractReader(shop, _reader(who), project=project).contract(contract_type)


@router.get(
    "/build/{build}/contracts",
    response_model=shapes.BuildContractsShape,
    responses=may_end({**_READ, 404: ["build_missing", "contract_unknown"]}),
)
def read_build_contracts(
    shop: Shop,
    who: Asking,
    *,
    build: Build,
    types: Annotated[list[str] | None, Query(max_length=9, description="Only these contracts.")] = None,
) -> Any:
    """The contracts that were pinned for a build."""
    found = ContractReader(shop, _reader(who), build=build_scope(shop, who, build)).build_contracts(types or ())
    contracts = [{"contract_type": kind, "content": text} for kind, text in found.contracts]
    return {"build_id": found.build_id, "batch": found.batch, "pinned_at": found.pinned_at, "contracts": contracts}


def _reader(who: Who) -> Reader:
    return Reader(who, "api")
