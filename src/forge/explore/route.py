"""The first phase of a turn: where the conversation is. A model proposes, rules decide what may follow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from forge.agents.answer_object import parse_object
from forge.explore.knowledge import GATHERING, MODES, Knowledge, Mode, mentions
from forge.explore.workbench import Workbench
from forge.json_value import Json

Transition = Literal["stay", "propose", "accept", "jump"]
SHORT_EVERY, FULL_AT = 3, 7
"""Turns between two short syntheses; the turn of the full one in gathering."""
_PATTERNS = 2
_FROM_AGENT = re.compile(r"\[[^\]\n]{1,80}\] ")
"""How messages of agents outside Forge begin."""
_TRIES = 2
"""How often a probe is asked before the next one has its turn."""


class Contradiction(BaseModel):
    model_config = ConfigDict(extra="ignore")
    assumption_id: str = Field(max_length=20)
    statement: str = Field(max_length=500)


class Route(BaseModel):
    """What the light call answers."""

    model_config = ConfigDict(extra="ignore")
    mode: Literal["gathering", "discover", "evaluate", "constraints", "value", "priorities"]
    transition: Transition = "stay"
    probe: str = Field(default="", max_length=60)
    patterns: list[str] = Field(default_factory=list, max_length=10)
    flags: list[str] = Field(default_factory=list, max_length=10)
    conflicts: list[Contradiction] = Field(default_factory=list, max_length=10)
    retrieval: str = Field(default="", max_length=300)
    reason: str = Field(default="", max_length=500)


def parse_route(raw: str) -> Route:
    return parse_object(raw, Route)


@dataclass(frozen=True, slots=True)
class Decision:
    """What this turn is about, after the rules."""

    mode: str | None
    """None while gathering."""
    probe: str = ""
    patterns: tuple[str, ...] = ()
    synthesis: Literal["", "short", "full"] = ""
    proposal: Json | None = None
    must_ask: str = ""
    """An assumption with high risk that has to be asked about, in one short question."""
    retrieval: str = ""
    flags: tuple[str, ...] = ()
    conflicts: tuple[Json, ...] = ()
    jumped: bool = False

    def to_json(self) -> Json:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Json) -> Self:
        tuples = {name: tuple(data[name]) for name in ("patterns", "flags", "conflicts")}
        return cls(**{**data, **tuples})


def decide(route: Route, bench: Workbench, knowledge: Knowledge, message: str) -> Decision:
    """The route as far as the rules allow it. Wrong names in it are dropped, never followed."""
    if _FROM_AGENT.match(message) and route.transition in ("accept", "jump"):
        route = route.model_copy(update={"transition": "propose"})  # only a person decides where to go
    mode, proposal, jumped = _mode(route, bench)
    here = knowledge.mode(mode)
    probe = _probe(route, bench, here)
    synthesis = _synthesis(bench, mode)
    if synthesis == "full" and proposal is None:
        proposal = {"mode": "discover", "reason": "Enough is known to frame the problem.", "turn": bench.turn}
    known = set(bench.register.assumptions)
    conflicts = [each.model_dump() for each in route.conflicts if each.assumption_id in known]
    return Decision(
        mode=mode,
        probe=probe,
        patterns=_triggered(route, bench, knowledge, message),
        synthesis=synthesis,
        proposal=proposal,
        must_ask=_must_ask(bench),
        retrieval=route.retrieval.strip(),
        flags=tuple(route.flags),
        conflicts=tuple(conflicts),
        jumped=jumped,
    )


def fired(bench: Workbench, mode: str | None = None) -> dict[str, list[Json]]:
    """Records of probes by name, in order."""
    found: dict[str, list[Json]] = {}
    for each in bench.items(bench.routing, "probe_history"):
        if isinstance(each, dict) and (mode is None or each.get("mode") == mode):
            found.setdefault(str(each.get("probe")), []).append(each)
    return found


def satisfied(bench: Workbench, name: str) -> bool:
    records = fired(bench).get(name, [])
    return any(each.get("satisfied") for each in records) or len(records) >= _TRIES


def open_probes(bench: Workbench, mode: Mode) -> tuple[str, ...]:
    return tuple(each.name for each in mode.probes if not satisfied(bench, each.name))


def _mode(route: Route, bench: Workbench) -> tuple[str | None, Json | None, bool]:
    """The mode of this turn, what is proposed, and whether the person jumped there."""
    now = bench.values.get("active_mode")
    here: str | None = now if now in MODES else None
    wanted = None if route.mode == GATHERING else route.mode
    waiting = bench.routing.get("proposal")
    offered = waiting.get("mode") if isinstance(waiting, dict) else None
    if wanted == here or wanted is None:
        return here, None, False
    if route.transition == "jump" or (route.transition == "accept" and offered == wanted):
        return wanted, None, route.transition == "jump"
    if offered == wanted:
        return here, None, False
    reason = route.reason or f"{MODES[wanted]} seems to be next."
    return here, {"mode": wanted, "reason": reason, "turn": bench.turn}, False


def _probe(route: Route, bench: Workbench, mode: Mode) -> str:
    left = open_probes(bench, mode)
    if not left:
        return ""
    first = mode.probes[0].name
    if first in left and first not in fired(bench):
        return first
    return route.probe if route.probe in left else left[0]


def _synthesis(bench: Workbench, mode: str | None) -> Literal["", "short", "full"]:
    if mode is None and bench.turn >= FULL_AT and not bench.routing.get("full_synthesis"):
        return "full"
    since = bench.routing.get("turns_since_synthesis")
    return "short" if isinstance(since, int) and since + 1 >= SHORT_EVERY else ""


def _triggered(route: Route, bench: Workbench, knowledge: Knowledge, message: str) -> tuple[str, ...]:
    done = {str(each.get("pattern")) for each in bench.items(bench.routing, "patterns_fired") if isinstance(each, dict)}
    said = _said(bench.values.get("messages"), message)
    found: list[str] = []
    for pattern in knowledge.patterns():
        heard = mentions(message, pattern.words("Triggers")) or pattern.name in route.patterns
        if heard and pattern.name not in done and not mentions(said, pattern.words("Not when")):
            found.append(pattern.name)
    return tuple(found[:_PATTERNS])


def _said(messages: Any, message: str) -> str:
    said: Sequence[Any] = messages if isinstance(messages, list) else ()
    texts = [str(each.get("content", "")) for each in said if isinstance(each, dict) and each.get("role") == "user"]
    return "\n".join([*texts[-20:], message])


def _must_ask(bench: Workbench) -> str:
    """Depth follows risk: the riskiest high-impact guess that nobody was asked about in the last turns."""
    asked = bench.routing.get("asked_about")
    recent = asked if isinstance(asked, dict) else {}
    for each in bench.register.untested(bench.line, bench.now.date()):
        if each.impact == "high" and bench.turn - int(recent.get(each.id, -99)) > 3:
            return each.id
    return ""
