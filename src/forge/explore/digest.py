"""The state of an exploration in few words: for the model that routes, and for the one that responds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from forge.explore import route
from forge.explore.knowledge import GATHERING, MODES, Knowledge
from forge.explore.sources import said
from forge.explore.workbench import Workbench
from forge.json_value import Json
from forge.projects.skeleton import STAKEHOLDER_ROLES
from forge.store.passages import Piece

_LAST_TURNS = 3
_TOKENS_KEPT = 24_000
_PER_TOKEN = 4
_LISTED = 40


def routing_state(bench: Workbench, knowledge: Knowledge) -> Json:
    """What whoever routes needs to know, the register with its riskiest first."""
    mode = bench.values.get("active_mode")
    here = knowledge.mode(mode if mode in MODES else None)
    fired = {
        str(each.get("pattern")) for each in bench.items(bench.routing, "patterns_fired") if isinstance(each, dict)
    }
    return {
        "mode": here.name,
        "turn": bench.turn,
        "proposal": bench.routing.get("proposal"),
        "active_probe": bench.routing.get("active_probe"),
        "open_probes": list(route.open_probes(bench, here)),
        "completed_modes": list(bench.items(bench.routing, "completed_modes")),
        "patterns": {
            each.name: each.conditions.get("Triggers", "") for each in knowledge.patterns() if each.name not in fired
        },
        "register": register_lines(bench),
    }


def register_lines(bench: Workbench, most: int = _LISTED) -> list[str]:
    risks = bench.register.risks(bench.now.date())
    ranked = sorted(bench.register.assumptions.values(), key=lambda each: (-risks[each.id], each.id))
    lines = [
        f"{each.id} {each.status} {each.impact}/{each.confidence} risk {risks[each.id]:g}: {each.claim[:160]}"
        for each in ranked[:most]
    ]
    rest = len(ranked) - most
    return [*lines, f"… and {rest} with less risk"] if rest > 0 else lines


def last_turns(messages: Sequence[Any], turns: int = _LAST_TURNS) -> list[str]:
    """The last exchanges before the message that is answered."""
    texts = [each for each in messages if isinstance(each, Mapping)]
    return [f"{each.get('role')}: {str(each.get('content', ''))[:600]}" for each in texts[-2 * turns - 1 : -1]]


def overview(bench: Workbench) -> str:
    """What is known, for whoever responds."""
    skeleton = bench.skeleton
    people = [
        f"{each.get('id')} {each.get('name')} ({role})"
        for role in STAKEHOLDER_ROLES
        for each in bench.items(bench.group("stakeholders"), role)
        if isinstance(each, dict)
    ]
    limits = [
        f"{each.get('id')} {each.get('severity')}: {each.get('text')}"
        for each in bench.items(skeleton, "constraints")
        if isinstance(each, dict)
    ]
    lines = [
        f"mode: {bench.values.get('active_mode') or GATHERING}",
        f"problem: {skeleton.get('problem_statement') or 'not stated yet'}",
        f"audience: {skeleton['target_audience']}" if skeleton.get("target_audience") else "",
        f"solution: {skeleton['solution_name']}" if skeleton.get("solution_name") else "",
        f"stakeholders: {'; '.join(people[:12])}" if people else "",
        f"constraints: {'; '.join(limits[:12])}" if limits else "",
        f"summary: {skeleton['conversation_summary']}" if skeleton.get("conversation_summary") else "",
    ]
    register = register_lines(bench, 12)
    return "\n".join([*(line for line in lines if line), *(["register:"] if register else []), *register])


def window(messages: Sequence[Any], limit: int = _TOKENS_KEPT) -> int:
    """Where the part of a conversation that is sent begins. It moves rarely, by half a window, so that what is sent
    stays the beginning of what is sent next.
    """
    start, total = 0, 0
    sizes = [
        len(str(each.get("content", ""))) // _PER_TOKEN + 8 if isinstance(each, Mapping) else 0 for each in messages
    ]
    for place, size in enumerate(sizes):
        total += size
        while total > limit and start < place and total > limit // 2:
            while start < place and total > limit // 2:
                total -= sizes[start]
                start += 1
    while start < len(messages) and start and messages[start].get("role") != "user":
        start += 1
    return start


def older_turns(messages: Sequence[Mapping[str, Any]]) -> list[Piece]:
    """What is no longer sent, a piece a message, each with its turn."""
    made: list[Piece] = []
    number = 0
    for each in messages[: window(messages)]:
        is_said = each.get("role") == "user"
        number += is_said
        place = f"your message T{number}" if is_said else f"the answer to T{number}"
        made.append(Piece(place, str(each.get("content", ""))))
    return made


def spoken(messages: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Role and text of each message, a person's with its number and pastes fenced."""
    made: list[tuple[str, str]] = []
    number = 0
    for each in messages:
        text = str(each.get("content", ""))
        if each.get("role") == "user":
            number += 1
            made.append(("user", f"T{number}: {said(text, f'T{number}')}"))
        else:
            made.append(("assistant", text))
    return made
