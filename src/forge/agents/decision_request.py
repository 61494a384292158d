"""What an agent needs a person to decide: the call of `need_decision`, or a last line `Stuck: …`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from forge.sessions.messages import AssistantMessage, ToolCall, ToolResult
from forge.sessions.turns import Item
from forge.tools.builtin.need_decision import MOST_OPTIONS, NAME

_STUCK = re.compile(r"[\s>*_`#-]*Stuck:[*_`]*\s*(?P<said>.+?)[*_`\s]*", re.IGNORECASE)
_OPTIONS = re.compile(r"(?P<question>.*?)\s*\[(?P<options>[^\[\]]*\|[^\[\]]*)\]\s*[.?]?\s*")


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    question: str
    options: tuple[str, ...] = ()
    explanation: str = ""
    """What the agent said about it."""

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        return cls(values["question"], tuple(values.get("options", ())), values.get("explanation", ""))


def is_requested(items: Sequence[Item]) -> bool:
    """Whether the agent has called for a decision: its turn ends then."""
    return _called(items) is not None


def decision_of(items: Sequence[Item], last_words: str) -> DecisionRequest | None:
    """`items` are those of one turn; `last_words` is how it ended."""
    call = _called(items)
    if call is not None:
        options = dict.fromkeys(option.strip() for option in call.arguments.get("options", ()))
        return DecisionRequest(call.arguments["question"].strip(), tuple(filter(None, options)), last_words)
    lines = last_words.rstrip().splitlines()
    found = _STUCK.fullmatch(lines[-1]) if lines else None
    if found is None:
        return None
    question, options_ = _split(found["said"])
    return DecisionRequest(question, options_, "\n".join(lines[:-1]).strip())


def _called(items: Sequence[Item]) -> ToolCall | None:
    """The last call that was accepted."""
    refused = {item.call_id for item in items if isinstance(item, ToolResult) and item.failed}
    answered = {item.call_id for item in items if isinstance(item, ToolResult)} - refused
    calls = [call for item in items if isinstance(item, AssistantMessage) for call in item.calls]
    return next((call for call in reversed(calls) if call.name == NAME and call.id in answered), None)


def _split(said: str) -> tuple[str, tuple[str, ...]]:
    """`Red or blue? [red | blue]`: the question, and the choices in brackets."""
    found = _OPTIONS.fullmatch(said)
    if found is None or not found["question"]:
        return said, ()
    options = dict.fromkeys(option.strip(" *_`\"'") for option in found["options"].split("|"))
    return found["question"], tuple(filter(None, options))[:MOST_OPTIONS]
