"""Explorations for agents: what is known about a problem, and a message that the explorer answers. No decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from forge.json_value import Json
from forge.mcp.call import Call
from forge.mcp.text import document
from forge.mcp.tool import Tool
from forge.mcp.toolsets.projects import PROJECT, project_id

if TYPE_CHECKING:
    from forge.app.projects.exploration import Exploration

_LISTED = 60
_OF_AN_ASSUMPTION = ("id", "claim", "status", "impact", "confidence", "risk", "depends_on", "cheapest_test")
_OF_STATUS = ("mode_title", "turn", "problem", "audience", "solution", "flags", "proposal", "next")


def _status(seen: Exploration) -> Json:
    return {name: value for name in _OF_STATUS if (value := getattr(seen, name)) not in (None, "", ())}


def _assumptions(seen: Exploration) -> Json:
    riskiest = [{name: each[name] for name in _OF_AN_ASSUMPTION} for each in seen.assumptions[:_LISTED]]
    more = {"left_out": len(seen.assumptions) - _LISTED} if len(seen.assumptions) > _LISTED else {}
    return {"risk_line": seen.risk_line, "assumptions": riskiest, **more}


def _map(seen: Exploration) -> Json:
    rests = {each["id"]: each["depends_on"] for each in seen.assumptions if each["depends_on"]}
    return {"stakeholders": list(seen.stakeholders), "rests_on": rests, "broken_paths": list(seen.broken_paths)}


def _next(seen: Exploration) -> Json:
    return {"next": seen.next, "questions": list(seen.questions), "proposal": seen.proposal}


_VIEWS: Mapping[str, Callable[[Exploration], Json]] = {
    "status": _status,
    "assumptions": _assumptions,
    "map": _map,
    "next": _next,
}


async def _show(call: Call, arguments: Json) -> str:
    from forge.app.projects import exploration  # noqa: PLC0415 - loads the explorer

    shop, id_ = await project_id(call, arguments)
    view = arguments.get("view", "status")
    if view == "brief":
        texts = await call.in_thread(lambda: exploration.briefs(shop, call.who, id_))
        return "\n\n".join(texts.values()) or "There is no brief yet."
    return document(_VIEWS[view](await call.in_thread(lambda: exploration.show(shop, call.who, id_))))


async def _message(call: Call, arguments: Json) -> str:
    from forge.app.projects import agent_messages, exploration  # noqa: PLC0415

    shop, id_ = await project_id(call, arguments)
    done = await agent_messages.say(shop, call.agent, id_, arguments["text"], explores=True)
    if done.run is None:
        return done.message or "Noted."
    return await call.telling("the explorer answers", exploration.answer_of(shop, call.who, id_, done.run))


TOOLS = (
    Tool(
        "forge_explore",
        "Show an exploration",
        "What is known about a problem: status, assumptions (riskiest first), map, brief, or what to do next.",
        _show,
        {"project": PROJECT, "view": {"enum": [*_VIEWS, "brief"], "description": "`status` if left out."}},
    ),
    Tool(
        "forge_explore_message",
        "Message the explorer",
        "Add to an exploration and get the explorer's answer. Cannot accept a proposal: a person does.",
        _message,
        {"project": PROJECT, "text": {"type": "string", "minLength": 1, "maxLength": 100_000}},
        required=("text",),
        scope="run",
    ),
)
