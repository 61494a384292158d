"""A scripted model for agent programs: calls tools in a given order, over the API of whichever program asks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.stand_in import Json, Reply, Request, anthropic, chat, google, responses

DONE = "The change is committed."
_SEARCHES = {"ToolSearch": "forge {names}", "tool_search": "forge {names}"}
"""How programs let a model look for tools that they do not show at once."""
_HANDLE = re.compile(r"draft~[0-9a-f.]+")


@dataclass(frozen=True, slots=True)
class Step:
    """One call. `DRAFT` in an argument stands for the handle that a tool returned last."""

    tool: str
    arguments: Json


DRAFT = "DRAFT"


@dataclass
class Script:
    """Answers a request by the number of results that it carries."""

    steps: Sequence[Step]
    results: list[str] = field(default_factory=list)
    """What the program handed back to the model, one text for each call."""
    searched: bool = False
    """The program hides tools until the model looks for them, and that look has a result, too."""

    def reply(self, request: Request, number: int) -> Reply:
        del number
        if "application/json" not in request.headers.get("content-type", "") or not request.body:
            return Reply(status=404)
        offered = _offered(request.json)
        named = {step.tool: next((each for each in offered if each.endswith(step.tool)), "") for step in self.steps}
        search = next((each for each in offered if each in _SEARCHES), "")
        if search and not all(named.values()):
            self.searched = True
            return Reply(calls=((search, {"query": _SEARCHES[search].format(names=" ".join(named))}),))
        if not all(named.values()):
            return Reply((DONE,))
        results = [_text(each) for each in _results(request.json)][self.searched :]
        if len(results) > len(self.results):
            self.results = results
        if len(results) >= len(self.steps):
            return Reply((DONE,))
        step = self.steps[len(results)]
        return Reply(calls=((named[step.tool], self._filled(step.arguments, results)),))

    def _filled(self, arguments: Json, results: Sequence[str]) -> Json:
        handles = [found for text in results for found in _HANDLE.findall(text)]
        return {name: handles[-1] if value == DRAFT else value for name, value in arguments.items()}


def speak(request: Request, reply: Reply, number: int) -> Iterable[str]:
    """In the API that the path names."""
    if "/messages" in request.path:
        return anthropic(request, reply, number)
    if "/responses" in request.path:
        return _as_codex(responses(request, reply, number), _offered(request.json))
    if "enerateContent" in request.path:
        return google(request, reply, number)
    return chat(request, reply, number)


def _offered(body: Json) -> dict[str, str]:
    """Every tool with the namespace that it is in; what a search found is in its result."""
    found = [each for item in body.get("input", []) if isinstance(item, dict) for each in item.get("tools", ())]
    return dict(_named([*body.get("tools", []), *found]))


def _named(tools: Sequence[Json], namespace: str = "") -> Iterator[tuple[str, str]]:
    for each in tools:
        if "functionDeclarations" in each:
            yield from _named(each["functionDeclarations"])
        elif each.get("type") == "namespace":
            yield from _named(each["tools"], each["name"])
        else:
            yield each.get("name") or each.get("function", {}).get("name", "") or each.get("type", ""), namespace


def _as_codex(events: Iterable[str], offered: dict[str, str]) -> Iterator[str]:
    """Codex wants to hear in which namespace a tool is, and a search is an item of its own kind."""
    for event in events:
        kind, _, data = event.rstrip().partition("\ndata: ")
        body = json.loads(data)
        for item in (body.get("item"), *body.get("response", {}).get("output", ())):
            if item and item["type"] == "function_call":
                if offered.get(item["name"]):
                    item["namespace"] = offered[item["name"]]
                if item["name"] == "tool_search":
                    given = json.loads(item["arguments"] or "{}")
                    item.update(type="tool_search_call", execution="client", arguments=given)
        yield f"{kind}\ndata: {json.dumps(body)}\n\n"


def _results(body: Json) -> Iterator[Any]:
    """What tools answered, in every form: Messages, Responses, Gemini, chat completions."""
    for message in [*body.get("messages", []), *body.get("input", []), *body.get("contents", [])]:
        if str(message.get("type", "")).endswith("_output") or message.get("role") == "tool":
            yield message.get("output", message.get("content"))
        content = message.get("content")
        for part in [*(content if isinstance(content, list) else ()), *message.get("parts", ())]:
            if isinstance(part, dict) and part.get("type") == "tool_result":
                yield part.get("content")
            elif isinstance(part, dict) and "functionResponse" in part:
                yield part["functionResponse"].get("response")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
