"""What can be drawn of contracts: phases in their order, endpoints, layers and which may use which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from forge.app.access.identity import Who
from forge.app.process.workshop import Workshop
from forge.app.projects.lookup import project_for
from forge.contracts import contract, pins
from forge.contracts.contract_set import ContractSet
from forge.contracts.endpoints import Endpoint, endpoints_of
from forge.contracts.kinds import Kind
from forge.contracts.phases import PhasePlan


@dataclass(frozen=True, slots=True)
class DrawnPhase:
    number: int
    name: str
    objective: str
    depends_on: tuple[int, ...]
    deliverables: int
    criteria: int


@dataclass(frozen=True, slots=True)
class DrawnLayer:
    name: str
    paths: tuple[str, ...]
    uses: tuple[str, ...]
    forbidden: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Pictures:
    phases: tuple[DrawnPhase, ...]
    endpoints: tuple[Endpoint, ...]
    layers: tuple[DrawnLayer, ...]


def show_pictures(shop: Workshop, who: Who, id_: str) -> Pictures:
    """Of what the project has; empty where a contract is missing or cannot be read."""
    return pictures_of(pins.current(project_for(shop, who, id_)))


def pictures_of(found: ContractSet) -> Pictures:
    plan = _value(found, Kind.PHASES)
    physics, boundaries = _value(found, Kind.PHYSICS), _value(found, Kind.BOUNDARIES)
    phases = plan.phases if isinstance(plan, PhasePlan) else ()
    drawn = tuple(
        DrawnPhase(each.number, each.name, each.objective, each.depends_on, len(each.deliverables), len(each.criteria))
        for each in phases
    )
    endpoints = tuple(endpoints_of(physics)) if isinstance(physics, dict) else ()
    return Pictures(drawn, endpoints, _layers(boundaries) if isinstance(boundaries, dict) else ())


def _value(found: ContractSet, kind: Kind) -> Any:
    return contract.parse(kind, found.text(kind) or "").value


def _layers(boundaries: dict[str, Any]) -> tuple[DrawnLayer, ...]:
    allowed, forbidden = _objects(boundaries, "allowed"), _objects(boundaries, "forbidden")
    return tuple(
        DrawnLayer(
            str(each.get("name")),
            tuple(map(str, each.get("paths") or ())),
            tuple(str(rule.get("to")) for rule in allowed if rule.get("from") == each.get("name")),
            tuple(str(rule.get("import")) for rule in forbidden if rule.get("layer") in (None, each.get("name"))),
        )
        for each in _objects(boundaries, "layers")
    )


def _objects(value: dict[str, Any], name: str) -> list[dict[str, Any]]:
    found = value.get(name)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
