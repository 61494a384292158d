"""One door to the rules: a prompt's name and its material in, the answer that a model would give out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from forge.builtin_rules.gate import gated
from forge.builtin_rules.intake import distilled
from forge.builtin_rules.review import reviewed
from forge.builtin_rules.specification import specified
from forge.errors import InvalidInput

Material = Mapping[str, Any]


class BuiltinCannot(InvalidInput):
    """Rules sort a person's own words into an outline; writing takes a model."""

    code = "builtin_cannot"


WAYS: Mapping[str, str] = MappingProxyType(
    {
        "key": "Enter a provider's key: Settings → Models in the browser, or for example ANTHROPIC_API_KEY.",
        "program": "Install an agent program such as claude, codex, gemini or opencode; Forge finds it.",
        "ollama": "Run Ollama on this machine with any model.",
    }
)
"""The three ways to a model, for whoever has none."""
CONNECT = f"Connect a model. {' '.join(WAYS.values())}"

_RULES: Mapping[str, Callable[[Material], str]] = MappingProxyType(
    {
        "brain-dump-intake": distilled,
        "spec-building": specified,
        "plan-review": reviewed,
        "completeness-gate": gated,
    }
)


def answer(prompt_name: str, material: Material) -> str:
    """The same answer for the same material, always."""
    rule = _RULES.get(prompt_name)
    kind = str(material.get("deliverable_type") or "plan").lower()
    if rule is None or kind != "plan":
        raise needs_a_model("This" if rule is None else f"A deliverable of type {kind}")
    return rule(material)


def needs_a_model(what: str, *, otherwise: str = "") -> BuiltinCannot:
    return BuiltinCannot(
        f"{what} needs a model: without one, Forge sorts your words into an outline of a plan.",
        hint=f"{CONNECT} {otherwise}".strip(),
    )
