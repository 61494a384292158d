"""How a turn ended, as every face shows it, and its JSON. Loads no engine."""

from __future__ import annotations

from typing import Any

from forge.agents.decision_request import DecisionRequest
from forge.agents.turn import TurnEnd
from forge.sessions.messages import usage_from_json
from forge.sessions.turns import TurnStatus

__all__ = ["TurnEnd", "TurnStatus"]


def end_from_json(data: dict[str, Any]) -> TurnEnd:
    usage, status = usage_from_json(data["usage"]), TurnStatus(data["status"])
    asked = data.get("decision")
    decision = DecisionRequest.from_json(asked) if asked else None
    return TurnEnd(**{**data, "usage": usage, "status": status, "files": tuple(data["files"]), "decision": decision})
