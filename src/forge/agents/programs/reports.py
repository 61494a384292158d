"""What agent programs print, read line by line: text to show at once, and in the end what came of it.

An exit code of 0 says little about these programs. Each reader looks for the program's own word on how it ended.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from forge.json_value import Json
from forge.sessions.messages import Usage

_LONGEST_LINE = 8 << 20
_TEXT_KEYS = ("output", "result", "response", "text", "message")


@dataclass(frozen=True, slots=True)
class Said:
    """What a program reported. `error` is empty unless it told of a failure; `denied` names tools it was refused."""

    text: str
    error: str = ""
    denied: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    complete: bool = True
    """Whether it came to its own end."""


class Report(Protocol):
    """Takes standard output piece by piece."""

    def take(self, data: bytes) -> str:
        """The text in it that a person wants to see."""

    def said(self) -> Said:
        """All of it, once the program has ended."""


class TextReport:
    """Whatever is printed is the answer."""

    def __init__(self, size: int) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._size = size
        self._text = ""

    def take(self, data: bytes) -> str:
        text = self._decoder.decode(data)
        self._text = (self._text + text)[-self._size :]
        return text

    def said(self) -> Said:
        self.take(b"")
        return Said(self._text.strip())


class JsonReport:
    """One JSON value at the end: an object with a text, and maybe with `error`, `is_error` or `success`."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._data = bytearray()

    def take(self, data: bytes) -> str:
        self._data += data
        del self._data[: -self._size]
        return ""

    def said(self) -> Said:
        value = _last_value(bytes(self._data))
        if isinstance(value, str):
            return Said(value.strip())
        if not isinstance(value, dict):
            return Said("", "its output is not the JSON object that its settings promise" if self._data.strip() else "")
        text = next((value[key] for key in _TEXT_KEYS if isinstance(value.get(key), str)), "")
        error = value.get("error")
        if not error and (value.get("is_error") is True or value.get("success") is False):
            error = text or "it reports an error"
        return Said(text.strip(), _sentence(error))


def _last_value(data: bytes) -> object:
    text = data.decode("utf-8", "replace").strip()
    for candidate in (text, text.rpartition("\n")[2]):
        try:
            return json.loads(candidate)
        except (ValueError, RecursionError):
            continue
    return None


class _Events:
    """Lines of JSON objects; other lines are passed over, since programs let warnings slip in."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._rest = bytearray()
        self._last = ""
        self._shown = False
        self.error = ""
        self.finished = False
        self.denied: dict[str, None] = {}
        self.usage = Usage()

    def take(self, data: bytes) -> str:
        self._rest += data
        if b"\n" not in data and len(self._rest) <= _LONGEST_LINE:
            return ""
        *lines, rest = self._rest.split(b"\n")
        # A line without end is given up, and what follows of it is no JSON.
        self._rest = rest if len(rest) <= _LONGEST_LINE else bytearray(b"-")
        return "".join(map(self._line, lines))

    def said(self) -> Said:
        self._line(self._rest)
        return Said(self._last.strip(), self.error, tuple(self.denied), self.usage, self.finished)

    def _line(self, line: bytes | bytearray) -> str:
        try:
            event = json.loads(line)
            return self.event(event) if isinstance(event, dict) else ""
        except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
            return ""  # not an event, or not of the shape that this program's versions agree on

    def event(self, event: Json) -> str:
        raise NotImplementedError

    def message(self, text: str) -> str:
        """A whole message: the last one is the answer."""
        if not text.strip():
            return ""
        self._last = text[-self._size :]
        shown, self._shown = ("\n\n" if self._shown else "") + text, True
        return shown

    def piece(self, text: str, *, first: bool) -> str:
        """A part of a message that comes in pieces."""
        if not isinstance(text, str):
            return ""
        start = "\n\n" if first and self._shown else ""
        self._last = text if first else (self._last + text)[-self._size :]
        self._shown = self._shown or bool(text)
        return start + text


class ClaudeReport(_Events):
    """`claude --output-format stream-json --include-partial-messages`."""

    def event(self, event: Json) -> str:
        match event["type"]:
            case "stream_event":
                return self._delta(event["event"])
            case "result":
                self.finished = True
                self._result(event)
        return ""

    def _delta(self, event: Json) -> str:
        if event["type"] == "content_block_start" and event["content_block"]["type"] == "text":
            return self.piece(event["content_block"].get("text", ""), first=True)
        if event["type"] == "content_block_delta" and event["delta"]["type"] == "text_delta":
            return self.piece(event["delta"]["text"], first=False)
        return ""

    def _result(self, event: Json) -> None:
        text = _sentence(event.get("result"))
        self._last = text[-self._size :] or self._last
        self.denied |= dict.fromkeys(str(denial.get("tool_name")) for denial in event.get("permission_denials") or ())
        if event.get("is_error") or event.get("subtype") != "success":
            self.error = text or _sentence(event.get("errors")) or str(event.get("subtype"))
        used = event.get("usage")
        read, written = _count(used, "cache_read_input_tokens"), _count(used, "cache_creation_input_tokens")
        self.usage = Usage(
            _count(used, "input_tokens") + read + written,
            _count(used, "output_tokens"),
            read,
            written,
            _count(event, "num_turns"),
            _cost(event.get("total_cost_usd")),
        )


class CodexReport(_Events):
    """`codex exec --json`."""

    def event(self, event: Json) -> str:
        match event["type"]:
            case "item.completed":
                return self._item(event["item"])
            case "turn.completed":
                self.finished, self.error = True, ""
                used = event.get("usage")
                names = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")
                self.usage += Usage(*[_count(used, name) for name in names])
            case "turn.failed":
                self.error = _sentence(event.get("error")) or "the turn failed"
            case "error":
                self.error = _sentence(event.get("message")) or "it reports an error"
        return ""

    def _item(self, item: Json) -> str:
        if item.get("status") == "declined":
            self.denied[str(item["type"])] = None
        return self.message(item["text"]) if item["type"] == "agent_message" else ""


class GeminiReport(_Events):
    """`gemini --output-format stream-json`."""

    _first = True

    def event(self, event: Json) -> str:
        match event["type"]:
            case "message" if event["role"] == "assistant":
                first, self._first = self._first or not event.get("delta"), False
                return self.piece(event["content"], first=first)
            case "tool_use":
                self._first = True
            case "tool_result" if event.get("status") == "error":
                self._failed_tool(event)
            case "error" if event.get("severity") == "error":
                self.error = _sentence(event.get("message")) or "it reports an error"
            case "result":
                self.finished = True
                if event.get("status") != "success":
                    self.error = _sentence(event.get("error")) or "it reports an error"
                names = ("input_tokens", "output_tokens", "cached")
                self.usage = Usage(*[_count(event.get("stats"), name) for name in names])
        return ""

    def _failed_tool(self, event: Json) -> None:
        why = f"{event.get('output')} {_sentence(event.get('error'))}".lower()
        if "denied" in why or "not allowed" in why or "policy" in why:
            self.denied[str(event["tool_id"]).split("__")[0]] = None


class OpencodeReport(_Events):
    """`opencode run --format json`."""

    def event(self, event: Json) -> str:
        part = event.get("part") or {}
        match event["type"]:
            case "text":
                return self.message(part["text"])
            case "tool_use" if part["state"].get("status") == "error":
                why = str(part["state"].get("error")).lower()
                if "permission" in why or "rejected" in why or "rule which prevents" in why:
                    self.denied[str(part["tool"])] = None
            case "step_finish":
                self.finished = True
                used = part["tokens"]
                read, written = _count(used.get("cache"), "read"), _count(used.get("cache"), "write")
                given = _count(used, "input") + read + written
                made = _count(used, "output") + _count(used, "reasoning")
                self.usage += Usage(given, made, read, written, 1, _cost(part.get("cost")))
            case "error":
                self.error = _sentence(event.get("error")) or "it reports an error"
        return ""


def _count(figures: object, name: str) -> int:
    value = figures.get(name) if isinstance(figures, dict) else 0
    return value if isinstance(value, int) else 0


def _cost(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _sentence(error: object) -> str:
    """The words in an error of whatever shape."""
    match error:
        case str():
            return error.strip()
        case list():
            return "; ".join(filter(None, map(_sentence, error)))
        case dict():
            found = error.get("message") or error.get("data") or error.get("error") or error.get("name")
            return _sentence(found)
    return "it reports an error" if error is True else ""


REPORTS: Mapping[str, Callable[[int], Report]] = MappingProxyType(
    {
        "text": TextReport,
        "json": JsonReport,
        "claude": ClaudeReport,
        "codex": CodexReport,
        "gemini": GeminiReport,
        "opencode": OpencodeReport,
    }
)
