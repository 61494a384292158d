"""Values as text for an agent."""

from __future__ import annotations

import json

from forge.errors import ForgeError
from forge.json_value import Json

_HINTS = {
    "protected_branch": "Pass a branch of your own in `at`, such as agent/fix-login: it is made from the default "
    "branch. A person merges it.",
    "branch_busy": "Somebody works on this branch. Wait and call again, or work on another branch.",
    "phases_whole": "Call forge_get_phase_window(phase_number) for the phase you work on.",
    "scope_missing": "Ask the person for a key with this scope.",
}
"""Where the usual hint is for people at a terminal."""


def document(value: Json) -> str:
    """Compact JSON; the same value gives the same text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def failure(error: ForgeError) -> str:
    """What happened and what to do next."""
    hint = _HINTS.get(error.code, error.hint)
    return f"{error.message} {hint}".strip().replace("`forge branch list`", "forge_list")
