"""What an agent reads of a project's contracts, as JSON."""

from __future__ import annotations

from pydantic import Field

from forge.api.shapes.base import Shape, Text
from forge.api.shapes.contracts import PinnedContract, Source, Type


class AgentProject(Shape):
    id: str
    name: Text
    status: str


class AgentContract(Shape):
    contract_type: Type
    version: int
    size_chars: int
    updated_at: float | None


class AgentContextShape(Shape):
    """A project and its contracts without their texts."""

    project: AgentProject
    contracts: list[AgentContract]
    latest_batch: int | None
    build_count: int = Field(description="Sets of contracts that were pinned for builds.")


class ContractReadShape(Shape):
    """`project_id` is null for a text that comes with Forge."""

    content: Text
    version: int
    contract_type: str
    project_id: str | None
    source: Source


class BuildContractsShape(Shape):
    build_id: str
    batch: int
    pinned_at: float
    contracts: list[PinnedContract]
