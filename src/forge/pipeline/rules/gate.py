"""Whether a plan says enough to build from: every section there, filled, and about something that was said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from forge.deliverables.plan import StructureChanged, parse
from forge.deliverables.plan.placeholders import placeholders
from forge.pipeline.rules.building import NOTHING_SAID

_FEWEST_WORDS = 30


def gated(material: Mapping[str, Any]) -> str:
    text = str(material.get("plan", ""))
    missing = [f"“{gap}” stands where something should be said." for gap in placeholders(text)]
    if len(text.split()) < _FEWEST_WORDS:
        missing.append(f"The plan has fewer than {_FEWEST_WORDS} words.")
    try:
        plan = parse(text)
    except StructureChanged:
        # Not one of our templates: what it says is for people and models to judge.
        return json.dumps({"complete": not missing, "missing": missing}, ensure_ascii=False)
    silent = [one for one in plan.outline.sections if plan.slots[f"{one.id}.plan"].startswith(NOTHING_SAID)]
    missing += [f"Nothing was said about {section.subject}." for section in silent]
    return json.dumps({"complete": not missing, "missing": missing}, ensure_ascii=False)
