"""The working document of an exploration inside `state.json`: its fields, and earlier names mapped to today's."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

STAKEHOLDER_ROLES = ("decision_authority", "pain_holder", "status_quo_beneficiary", "execution_dependency")
METRIC_KINDS = ("leading", "lagging", "anti_metric")
RISK_AREAS = ("fit", "value", "usability", "feasibility", "viability")

_DEFAULTS: Mapping[str, Any] = {
    "problem_statement": None,
    "problem_source": "",
    "not_about": [],
    "target_audience": None,
    "audience_source": "",
    "why_now": None,
    "field_reality": None,
    "value_hypothesis": None,
    "edge_map": {"upstream": [], "downstream": [], "adjacent": [], "in_time": []},
    "stakeholders": {role: [] for role in STAKEHOLDER_ROLES},
    "success_metrics": {kind: [] for kind in METRIC_KINDS},
    "decision_criteria": {"proceed_if": [], "do_not_proceed_if": []},
    "solution_name": None,
    "solution_description": None,
    "solution_source": "",
    "risk_assessment": dict.fromkeys(RISK_AREAS),
    "risks": [],
    "build_buy_partner": None,
    "validation_plan": [],
    "go_no_go": {"verdict": None, "reason": "", "conditions": [], "dealbreakers": [], "other_side": ""},
    "constraints": [],
    "value_estimate": None,
    "priorities": [],
    "priority_framework": None,
    "conversation_summary": "",
}
_EARLIER = {"sizing": "value_estimate"}
_EARLIER_INSIDE = {
    "stakeholders": {
        "decision_makers": "decision_authority",
        "beneficiaries": "pain_holder",
        "blockers": "execution_dependency",
        "status_quo_beneficiaries": "status_quo_beneficiary",
    },
    "success_metrics": {"anti_metrics": "anti_metric"},
    "go_no_go": {"go": "conditions", "no_go": "dealbreakers"},
}
_GONE = ("edge_cases", "solution_fit", "scope_drift")
"""Earlier fields without a place today; a value in one is kept as it is."""


def defaults() -> dict[str, Any]:
    return deepcopy(dict(_DEFAULTS))


def merged(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Saved values over defaults. Values under earlier names move to today's; nothing that is known is dropped."""
    made = defaults()
    for key, value in saved.items():
        name = _EARLIER.get(key, key)
        if name != key and (value in (None, "", [], {}) or name in saved):
            continue
        if key in _GONE and value in (None, "", [], {}):
            continue
        made[name] = _inside(name, made.get(name), value)
    return made


def _inside(name: str, default: Any, value: Any) -> Any:
    if value is None and isinstance(default, list | dict):
        return default
    if not isinstance(default, dict):
        return value
    if not isinstance(value, Mapping):
        return default
    names = _EARLIER_INSIDE.get(name, {})
    made = {**default, **{key: each for key, each in value.items() if key not in names}}
    for earlier, today in names.items():
        if earlier in value and isinstance(value[earlier], list):
            now = made.get(today)
            made[today] = [*(now if isinstance(now, list) else ()), *value[earlier]]
    return made
