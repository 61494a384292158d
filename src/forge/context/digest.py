"""What came of a turn, taken from its own messages by rule: files changed and read, commands, errors, the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from forge.context import tokens
from forge.json_value import Json
from forge.sessions.messages import AssistantMessage, Message, ToolCall, ToolResult

_CHANGING = frozenset({"write_file", "search_replace", "delete_file", "rename_file", "undo_edit"})
_READING = frozenset({"read_file", "get_lines", "grep_open"})
_RUNNING = frozenset({"run_command", "run_tests"})
_PATHS = ("path", "new_path", "paths", "files")
_ASKING = "ask_user"
_COMMANDS = ("command", "paths", "path")
_EXIT = re.compile(r"\bexit(?:ed)?(?:[ _-](?:with|code|status))*[\"']?[ :=]+(-?\d{1,5})\b", re.IGNORECASE)
_MOST = 12


@dataclass(frozen=True, slots=True)
class Digest:
    changed: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    ran: tuple[str, ...] = ()
    """Commands with their exit codes."""
    failed: tuple[str, ...] = ()
    used: tuple[str, ...] = ()
    """Other tools."""
    asked: tuple[str, ...] = ()
    """Questions to the person, with their answers: words that nobody can find out again."""
    answer: str = ""


def digest(messages: Sequence[Message]) -> Digest:
    """Of messages in which results directly follow their calls."""
    changed: list[str] = []
    read: list[str] = []
    ran: list[str] = []
    failed: list[str] = []
    used: list[str] = []
    asked: list[str] = []
    answer = ""
    for place, message in enumerate(messages):
        if not isinstance(message, AssistantMessage):
            continue
        results = {result.call_id: result for result in _following(messages, place)}
        answer = message.text.strip() or answer
        for call in message.calls:
            result = results.get(call.id)
            if call.name in _RUNNING:
                ran.append(_command(call, result))
            elif result is not None and result.failed:
                failed.append(f"{call.name}: {_first_line(result.text)}")
            elif call.name in _CHANGING:
                changed += _paths(call.arguments)
            elif call.name in _READING:
                read += _paths(call.arguments)
            elif call.name == _ASKING and result is not None:
                asked.append(f"Asked the person: {call.arguments.get('question', '')} They answered: {result.text}")
            else:
                used.append(call.name)
    return Digest(_once(changed), _once(read), _once(ran), _once(failed), _once(used), tuple(asked), answer)


def worded(found: Digest, *, answer_tokens: int) -> str:
    """A few lines; empty when nothing was done and nothing answered."""
    parts = [
        _sentence("Changed", found.changed),
        _sentence("Ran", found.ran),
        _sentence("Failed", found.failed),
        _sentence("Read", found.read),
        _sentence("Used", found.used),
        *found.asked,
    ]
    if found.answer and answer_tokens > 0:
        parts.append("Answered: " + tokens.shortened(found.answer, answer_tokens))
    return "\n".join(filter(None, parts))


def files_read(messages: Iterable[Message]) -> tuple[str, ...]:
    """Paths that were read, the last ones last."""
    paths: dict[str, None] = {}
    for message in messages:
        if isinstance(message, AssistantMessage):
            for call in message.calls:
                if call.name in _READING:
                    for path in _paths(call.arguments):
                        paths.pop(path, None)
                        paths[path] = None
    return tuple(paths)


def _once(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _following(messages: Sequence[Message], place: int) -> Iterator[ToolResult]:
    for message in messages[place + 1 :]:
        if not isinstance(message, ToolResult):
            return
        yield message


def _sentence(word: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return f"{word}: {', '.join(names[:_MOST])}{more}."


def _paths(arguments: Json) -> list[str]:
    found: list[str] = []
    for key in _PATHS:
        value = arguments.get(key)
        if isinstance(value, str) and value and len(value) < 300 and "\n" not in value:
            found.append(value)
        elif isinstance(value, list):
            found += [each for each in value[:_MOST] if isinstance(each, str) and len(each) < 300]
    return found


def _command(call: ToolCall, result: ToolResult | None) -> str:
    value = next((call.arguments[key] for key in _COMMANDS if call.arguments.get(key)), "")
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    shown = _first_line(text) or call.name
    found = _EXIT.search(result.text) if result is not None else None
    if found:
        return f"`{shown}` (exit {found[1]})"
    return f"`{shown}`" + (" (failed)" if result is not None and result.failed else "")


def _first_line(text: str, most: int = 160) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= most else line[: most - 1] + "…"
