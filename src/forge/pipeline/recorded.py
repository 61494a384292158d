"""Recorded answers to the pipeline's prompts, by prompt and by how often it was asked; everything around is real.

A recording is a file of JSON lines: `{"prompt": "code-review", "nth": 1, "output": …}`; an output that is not text is
given as JSON.
"""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

from forge.errors import InvalidInput, NotFound

_FOLDER = "recordings"
_ENDING = ".jsonl"


class RecordingEnded(NotFound):
    """The recording has no answer for this: what it was made for has changed."""

    code = "recording_ended"


class RecordingUnreadable(InvalidInput):
    """A line of it is no answer to a prompt."""

    code = "recording_unreadable"


class RecordedAnswers:
    def __init__(self, name: str, answers: dict[tuple[str, int], str]) -> None:
        self._name = name
        self._answers = answers

    @classmethod
    def named(cls, name: str) -> RecordedAnswers:
        """By the name of one that comes with Forge, or by path."""
        own = resources.files("forge.pipeline") / _FOLDER / f"{name}{_ENDING}"
        if own.is_file():
            text = own.read_text(encoding="utf-8")
        elif (path := Path(f"{name.removesuffix(_ENDING)}.answers{_ENDING}")).is_file():
            text = path.read_text(encoding="utf-8")
        else:
            raise RecordingEnded(f"There is no recording {name}.", hint="See `forge demo`.")
        lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
        return cls(name, dict(_answer(name, number, line) for number, line in lines))

    def answer(self, prompt: str, nth: int) -> str:
        try:
            return self._answers[prompt, nth]
        except KeyError:
            raise RecordingEnded(
                f"The recording {self._name} has no answer number {nth} to {prompt}.",
                hint="The program has changed since it was made; record it again.",
            ) from None


def _answer(name: str, number: int, line: str) -> tuple[tuple[str, int], str]:
    try:
        entry = json.loads(line)
        return (str(entry["prompt"]), int(entry["nth"])), _text(entry["output"])
    except (ValueError, KeyError, TypeError) as e:
        raise RecordingUnreadable(
            f"Line {number} of the recording {name} is no answer.", hint="It needs `prompt`, `nth` and `output`."
        ) from e


def _text(output: object) -> str:
    return output if isinstance(output, str) else json.dumps(output, indent=2, ensure_ascii=False)
