"""Whether a plan says enough to build from, as far as rules can tell: it has words, and no gaps among them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from forge.deliverables.plan.placeholders import placeholders

_FEWEST_WORDS = 30


def gated(material: Mapping[str, Any]) -> str:
    text = str(material.get("plan", ""))
    missing = [f"“{gap}” stands where something should be said." for gap in placeholders(text)]
    if len(text.split()) < _FEWEST_WORDS:
        missing.append(f"The plan has fewer than {_FEWEST_WORDS} words.")
    return json.dumps({"complete": not missing, "missing": missing}, ensure_ascii=False)
