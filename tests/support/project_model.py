"""A model that stands in for a real one: it sorts by the rules, decides what is left to it, and writes whole plans."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from forge import builtin_rules
from forge.deliverables.plan.review import items, section_text

DECIDED = "Decided by the model, because nothing speaks against it."


def answer(prompt: str, material: Mapping[str, Any]) -> str:
    match prompt:
        case "plan-build":
            return _section(material)
        case "spec-building":
            return _specified(material)
        case "plan-review":
            return json.dumps({"critical": 0, "medium": 0, "minor": 0, "issues": []})
        case "team-context":
            return json.dumps({"kind": "problem", "context": ""})
        case "plan-fix":
            return json.dumps({"slots": {}, "summary": "Nothing to change."})
    return builtin_rules.answer(prompt, material)


def _specified(material: Mapping[str, Any]) -> str:
    given = json.loads(builtin_rules.answer("spec-building", material))
    for one in given["resolutions"]:
        if one["source"] == "open":
            one |= {"source": "ai", "resolution": DECIDED}
    return json.dumps(given)


def _section(material: Mapping[str, Any]) -> str:
    title = material["section"]["title"]
    criteria = items(section_text(material["constraints"], "Acceptance Criteria"))
    answers = [str(one.get("answer", "")) for one in material["answers"]]
    said = " ".join([section_text(material["intent"], "Objective"), *criteria, *answers])
    texts = (f"{title} is settled.", f"Somebody does what {title} needs.", "It can be seen.", said or "Nothing else.")
    content = json.dumps(dict(zip(material["slots"], texts, strict=True)))
    return json.dumps({"stuck": False, "reason": "", "content": content})
