"""Recorded answers instead of a model's, taken in order; everything around them is real.

A recording is a file of JSON lines, one answer each: `{"text": …, "calls": [{"name": …, "arguments": {…}}]}`. In a
recording of several conversations each line names its own: `"for": "blueprint"`.
"""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

from forge.agents.errors import ModelFailed, ModelUnknown
from forge.agents.model import OnText, Prompt
from forge.json_value import Json
from forge.sessions.messages import AssistantMessage, ToolCall, Usage

_FOLDER = "recordings"
_ENDING = ".jsonl"


def recordings() -> tuple[str, ...]:
    """Names of the recordings that come with Forge."""
    folder = resources.files("forge.agents") / _FOLDER
    return tuple(sorted(entry.name.removesuffix(_ENDING) for entry in folder.iterdir() if entry.name.endswith(_ENDING)))


class RecordedModel:
    """Knows its place from the conversation itself, so another process continues where one ended."""

    def __init__(self, name: str, answers: tuple[Json, ...]) -> None:
        self._name = name
        self._answers = answers

    @classmethod
    def named(cls, name: str) -> RecordedModel:
        """By the name of one that comes with Forge, or by path."""
        if name in recordings():
            text = (resources.files("forge.agents") / _FOLDER / f"{name}{_ENDING}").read_text(encoding="utf-8")
        else:
            text = _text_at(name)
        return cls(f"recorded:{name}", tuple(_answer(line, place) for place, line in _lines(text)))

    def part(self, name: str) -> RecordedModel:
        """The conversation `name` of a recording of several."""
        return RecordedModel(self._name, tuple(each for each in self._answers if each.get("for", name) == name))

    @property
    def name(self) -> str:
        return self._name

    @property
    def context_window(self) -> int:
        return 1_000_000

    async def answer(self, prompt: Prompt, *, on_text: OnText) -> AssistantMessage:
        place = self._place(prompt)
        if place >= len(self._answers):
            raise ModelFailed(
                f"The recording {self._name} has {len(self._answers)} answers, and all of them were given.",
                hint="Start it on a new branch.",
            )
        recorded = self._answers[place]
        text = recorded.get("text", "")
        for piece in text.splitlines(keepends=True):
            on_text(piece)
        calls = tuple(
            ToolCall(f"recorded-{place}-{i}", call["name"], call.get("arguments", {}))
            for i, call in enumerate(recorded.get("calls", ()))
        )
        return AssistantMessage(text, calls, self._name, Usage(requests=1, cost=0.0), ({"recorded": place},))

    def _place(self, prompt: Prompt) -> int:
        """One further than the last of ours that is still in the conversation, which may have been shortened."""
        mine = [m for m in prompt.messages if isinstance(m, AssistantMessage) and m.model == self._name]
        places = [entry["recorded"] for m in mine for entry in m.opaque if isinstance(entry.get("recorded"), int)]
        return places[-1] + 1 if places else len(mine)


def _text_at(name: str) -> str:
    hint = f"Give a file, or one of: {', '.join(recordings())}."
    try:
        if Path(name).is_file():
            return Path(name).read_text(encoding="utf-8")
    except (OSError, ValueError) as e:  # not ours to read, no path at all, or no text
        raise ModelUnknown(f"The recording `{name}` cannot be read.", hint=hint) from e
    raise ModelUnknown(f"There is no recording `{name}`.", hint=hint)


def _lines(text: str) -> list[tuple[int, str]]:
    return [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


def _answer(line: str, number: int) -> Json:
    try:
        value = json.loads(line)
    except ValueError as e:
        raise ModelFailed(f"Line {number} of the recording is not JSON: {e}.") from e
    calls = value.get("calls", []) if isinstance(value, dict) else None
    named = isinstance(calls, list) and all(isinstance(c, dict) and isinstance(c.get("name"), str) for c in calls)
    if not named or not isinstance(value.get("text", ""), str):
        raise ModelFailed(f"Line {number} of the recording is no answer: it needs `text` or `calls` with names.")
    answer: Json = value
    return answer
