"""Mending by rules: what a review says outright to add to a slot or to take out of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_ADD = re.compile(r"Add to (?P<slot>[a-z_]+\.[a-z]+): “(?P<text>.+)”", re.DOTALL)
_TAKE_OUT = re.compile(r"Take out of (?P<slot>[a-z_]+\.[a-z]+): “(?P<text>.+)”", re.DOTALL)
_INSTEAD = "(by rule: open until somebody decides it)"


def mended(material: Mapping[str, Any]) -> str:
    slots = {str(slot): str(text) for slot, text in dict(material.get("plan_slots", {})).items()}
    changed: dict[str, str] = {}
    for issue in material.get("issues", ()):
        recommendation = str(issue.get("recommendation", ""))
        add, take = _ADD.search(recommendation), _TAKE_OUT.search(recommendation)
        found = add or take
        if found is None or found["slot"] not in slots:
            continue
        text = changed.get(found["slot"], slots[found["slot"]])
        changed[found["slot"]] = _added(text, found["text"]) if add else text.replace(found["text"], _INSTEAD)
    count = len(changed)
    left = len(material.get("issues", ())) - count
    summary = f"By rule: {count} slots changed as the review said." if count else "By rule: nothing could be mended."
    if left > 0 and count:
        summary += " What takes a decision was left to people."
    return json.dumps({"slots": changed, "summary": summary}, ensure_ascii=False)


def _added(text: str, more: str) -> str:
    return text if more in text else f"{text}\n\n{more}" if text.strip() else more
