"""WORKFLOW-STATUS.yaml: the initiative in short, for people and other tools. Their own keys and comments are kept."""

from __future__ import annotations

import re
from typing import Any

import yaml

from forge.memory.encoding import Unreadable
from forge.memory.values import LONG_AGO, Initiative, Milestone, MilestoneStatus, Status, moment, parsed_moment

_KEY = re.compile(r"(?P<key>[A-Za-z_]\w*):(?=\s|$)")


def status_text(value: Initiative, before: str = "") -> str:
    """The file for `value`, with what others wrote into it `before`."""
    known = _known(value)
    lines, written = _without(before, set(known)), _dumped(known)
    text = "\n".join([*written.splitlines(), *lines]) + "\n"
    try:
        if {**_loaded(before), **known} == _loaded(text):
            return text
    except Unreadable:
        pass  # what was there is no mapping line by line: it cannot be kept in its own form
    return written


def parsed_status(data: bytes) -> Initiative | None:
    """None for a file that tells of no initiative: it is somebody else's so far."""
    try:
        raw = _loaded(data.decode())
        if "initiative" not in raw:
            return None
        return Initiative(
            id=str(raw["initiative"]),
            title=str(raw.get("title", "")),
            type=str(raw.get("type", "")),
            status=Status(raw["status"]),
            phase=str(raw.get("phase", "")),
            completed_phase=str(raw.get("completedPhase", "")),
            context=str(raw.get("context", "")),
            milestone=str(raw.get("milestone", "")),
            milestones=tuple(
                Milestone(str(each["id"]), str(each.get("title", "")), MilestoneStatus(each["status"]))
                for each in raw.get("milestones") or ()
            ),
            reason=str(raw.get("reason", "")),
            outcome=str(raw.get("outcome", "")),
            updated=parsed_moment(raw.get("lastUpdated", LONG_AGO)),
            counter=int(raw.get("counter", 0)),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as e:
        raise Unreadable(f"a value in it cannot be used ({e})") from e


def _known(value: Initiative) -> dict[str, Any]:
    return {
        "initiative": value.id,
        "title": value.title,
        "type": value.type,
        "status": value.status.value,
        "phase": value.phase,
        "completedPhase": value.completed_phase,
        "context": value.context,
        "milestone": value.milestone,
        "milestones": [{"id": each.id, "title": each.title, "status": each.status.value} for each in value.milestones],
        "reason": value.reason,
        "outcome": value.outcome,
        "lastUpdated": moment(value.updated),
        "counter": value.counter,
    }


def _without(text: str, keys: set[str]) -> list[str]:
    """The lines that do not belong to `keys`. A value is what is indented below its key, or a list right there."""
    kept, ours = [], False
    for line in text.splitlines():
        found = _KEY.match(line)
        if found:
            ours = found["key"] in keys
        elif not line.startswith((" ", "\t", "-")):
            ours = False
        if not ours and line not in ("---", "{}"):
            kept.append(line)
    return kept


def _loaded(text: str) -> dict[str, Any]:
    try:
        raw = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as e:
        raise Unreadable("it is no YAML") from e
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise Unreadable("it holds no keys")
    return raw


def _dumped(known: dict[str, Any]) -> str:
    return yaml.safe_dump(known, sort_keys=False, allow_unicode=True, width=1000)
