"""One door to the rules: a prompt's name and its material in, the answer that a model would give out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from forge.errors import InvalidInput
from forge.pipeline.rules.building import built
from forge.pipeline.rules.gate import gated
from forge.pipeline.rules.intake import distilled
from forge.pipeline.rules.mending import mended
from forge.pipeline.rules.reviewing import reviewed
from forge.pipeline.rules.specifying import specified

Material = Mapping[str, Any]


class BuiltinCannot(InvalidInput):
    """Rules write plans from a person's own words; everything else takes a model."""

    code = "builtin_cannot"


_RULES: Mapping[str, Callable[[Material], str]] = MappingProxyType(
    {
        "brain-dump-intake": distilled,
        "spec-building": specified,
        "plan-build": built,
        "plan-review": reviewed,
        "plan-fix": mended,
        "completeness-gate": gated,
    }
)


def answer(prompt_name: str, material: Material) -> str:
    """The same answer for the same material, always."""
    rule = _RULES.get(prompt_name)
    kind = str(material.get("deliverable_type") or "plan").lower()
    if rule is None or kind != "plan":
        wanted = f"“{prompt_name}”" if rule is None else f"a deliverable of type {kind}"
        raise BuiltinCannot(
            f"The built-in engine works by rules and cannot do {wanted}; it takes plans from brain dump to done.",
            hint="Configure a model or an installed agent for this project, or make it a plan.",
        )
    return rule(material)
