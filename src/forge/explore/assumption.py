"""One assumption: what is claimed, how much hangs on it, how well it is known, and what would test it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any, Literal, Self, get_args

from forge.json_value import Json

Type = Literal["value", "technical", "stakeholder_dependency", "market", "organizational"]
Impact = Literal["low", "medium", "high"]
Confidence = Literal["guessed", "informed", "validated"]
Status = Literal["active", "at_risk", "invalidated", "confirmed"]

TYPES: tuple[str, ...] = get_args(Type)
IMPACTS: tuple[str, ...] = get_args(Impact)
CONFIDENCES: tuple[str, ...] = get_args(Confidence)
STATUSES: tuple[str, ...] = get_args(Status)

WEIGHT: Mapping[str, int] = {"low": 1, "medium": 2, "high": 3}
CERTAINTY: Mapping[str, float] = {"guessed": 0.2, "informed": 0.6, "validated": 0.95}
_LIST_FIELDS = ("depends_on", "implied_stakeholders", "evidence_for", "evidence_against", "history")
_USUAL_TEST = {
    "value": "painted door: offer it to ten users before it exists and count who asks for it",
    "technical": "technical spike: build only the riskiest part in two days",
    "stakeholder_dependency": "one conversation: ask the person it depends on for a yes or a no",
    "market": "concierge: serve three customers by hand and see whether they come back",
    "organizational": "one conversation: ask whoever owns the process what would have to change",
}


@dataclass(frozen=True, slots=True)
class Assumption:
    id: str
    claim: str
    type: str = "value"
    impact: str = "medium"
    confidence: str = "guessed"
    basis: str = ""
    surfaced_by: str = ""
    depends_on: tuple[str, ...] = ()
    recommended_action: str = ""
    implied_stakeholders: tuple[str, ...] = ()
    status: str = "active"
    source: str = ""
    """The turn or passage in which it came up, for example `T3`."""
    evidence_for: tuple[Json, ...] = ()
    """`{source, date, strength}` each."""
    evidence_against: tuple[Json, ...] = ()
    owner: str = ""
    test: Json = field(default_factory=dict)
    """`{method, pass_line, due}`: the pass line is set before the result."""
    expires: str = ""
    """A day as `YYYY-MM-DD`. After it, what is known counts as guessed."""
    history: tuple[Json, ...] = ()

    def to_json(self) -> Json:
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, id_: str, data: object) -> Self:
        """Total: whatever a file holds becomes an assumption, with defaults in the place of what does not fit."""
        given: Mapping[str, Any] = data if isinstance(data, Mapping) else {"claim": str(data or "")}
        claim = given.get("claim") or given.get("text") or ""
        texts = ("basis", "surfaced_by", "recommended_action", "source", "owner", "expires")
        lists: dict[str, Any] = {name: _listed(given.get(name)) for name in _LIST_FIELDS}
        for name in ("depends_on", "implied_stakeholders"):
            lists[name] = tuple(str(each) for each in lists[name])
        for name in ("evidence_for", "evidence_against", "history"):
            lists[name] = tuple(dict(each) for each in lists[name] if isinstance(each, Mapping))
        said = {name: value if isinstance(value := given.get(name), str) else "" for name in texts}
        test = given.get("test")
        return cls(
            id=id_,
            claim=str(claim),
            type=_one_of(TYPES, given.get("type"), "value"),
            impact=_one_of(IMPACTS, given.get("impact"), "medium"),
            confidence=_one_of(CONFIDENCES, given.get("confidence"), "guessed"),
            status=_one_of(STATUSES, given.get("status"), "active"),
            test=dict(test) if isinstance(test, Mapping) else {},
            **{**lists, **said},
        )

    def known(self, today: date | None = None) -> str:
        """Its confidence now: what has expired counts as guessed."""
        return "guessed" if today is not None and self.expires and self.expires < today.isoformat() else self.confidence

    def risk(self, resting: int, today: date | None = None) -> float:
        """Impact × doubt × what rests on it; `resting` is how many conclusions do."""
        weight = min(1 + resting / 4, 2.0)
        return round(WEIGHT[self.impact] * (1 - CERTAINTY[self.known(today)]) * weight, 4)

    @property
    def cheapest_test(self) -> str:
        return str(self.test.get("method") or "") or self.recommended_action or _USUAL_TEST[self.type]


def _listed(value: object) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, list | tuple) else ()


def _one_of(known: tuple[str, ...], value: object, default: str) -> str:
    return value if isinstance(value, str) and value in known else default
