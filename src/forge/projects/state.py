"""The saved state of a conversation, `state.json`: defaults first, then what was saved over them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from forge.projects import fields, skeleton

FILE = "state.json"
SCHEMA_VERSION = "1.0"
PERSISTED_KEYS = (
    "messages",
    "turn_count",
    "current_phase",
    "active_mode",
    "assumption_register",
    "assumption_counter",
    "document_skeleton",
    "routing_context",
    "org_context",
    "latest_artifact",
    "pending_questions",
)
_HEAD = 2_000
_LAST_SAVED = re.compile(r'"last_saved": "(20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z)"')
MERGED_KEYS = frozenset({"document_skeleton", "routing_context", "org_context"})
"""Dictionaries that grow with the versions: merged key by key. Everything else is replaced."""

_DEFAULTS: Mapping[str, Any] = {
    "messages": [],
    "turn_count": 0,
    "current_phase": "gathering",
    "active_mode": None,
    "assumption_register": {},
    "assumption_counter": 0,
    "document_skeleton": skeleton.defaults(),
    "routing_context": {
        "last_routing_decision": None,
        "active_probe": None,
        "probe_history": [],
        "patterns_fired": [],
        "completed_modes": [],
        "proposal": None,
        "flags": [],
        "conflicts": [],
        "changes": [],
        "turns_since_synthesis": 0,
        "retrieval_needed": False,
        "answered": 0,
    },
    "org_context": {"company": "", "domain": "", "public_context": "", "internal_context": ""},
    "latest_artifact": None,
    "pending_questions": [],
}


@dataclass(frozen=True, slots=True)
class SavedState:
    """What `state.json` holds, completed; `warning` tells a person about another version."""

    project_name: str
    values: Mapping[str, Any]
    last_saved: str = ""
    schema_version: str = SCHEMA_VERSION
    warning: str = ""


def defaults() -> dict[str, Any]:
    """A fresh value for each of `PERSISTED_KEYS`."""
    return deepcopy(dict(_DEFAULTS))


def fresh(project_name: str) -> SavedState:
    return SavedState(project_name, defaults())


def last_saved(directory: Path) -> str:
    """When the state was saved, from its head alone; empty where that cannot be told."""
    try:
        with (directory / FILE).open("rb") as file:
            head = file.read(_HEAD).decode("utf-8", "replace")
    except OSError:
        return ""
    found = _LAST_SAVED.search(head)
    return found[1] if found else ""


def formatted(state: SavedState, *, now: datetime) -> str:
    """The text of `state.json`. Always of the present version, and only keys that are saved."""
    head = {"schema_version": SCHEMA_VERSION, "project_name": state.project_name, "last_saved": fields.iso(now)}
    return fields.dumped(head | {key: state.values[key] for key in PERSISTED_KEYS if key in state.values})


def loaded(text: str | None) -> SavedState:
    """Saved values over defaults. A key that is missing or null gets its default."""
    if text is None:
        return fresh("Untitled")
    saved = fields.loaded_object(text, FILE)
    values = defaults()
    for key in PERSISTED_KEYS:
        if key in saved:
            values[key] = _merged(key, values[key], saved[key])
    version, name = saved.get("schema_version", "unknown"), saved.get("project_name")
    return SavedState(
        name if isinstance(name, str) and name else "Untitled",
        values,
        str(saved.get("last_saved", "")),
        str(version),
        "" if version == SCHEMA_VERSION else _other_version(version),
    )


def _merged(key: str, default: Any, saved: Any) -> Any:
    if key == "document_skeleton":
        return skeleton.merged(saved) if isinstance(saved, dict) else default
    if key in MERGED_KEYS:
        return {**default, **saved} if isinstance(saved, dict) else default
    return default if saved is None else saved


def _other_version(version: object) -> str:
    return (
        f"This project was saved by another version of Forge (state {version}, here {SCHEMA_VERSION}). "
        "It was loaded, but some of it may not work; a new project is the safe way."
    )
