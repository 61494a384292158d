"""A model that answers from a script, for tests of Forge and of whatever is built on it, without any provider."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from forge.agents.errors import ModelFailed
from forge.agents.listener import start_again
from forge.agents.model import OnText, Prompt
from forge.counts import counted
from forge.json_value import Json
from forge.sessions.messages import AssistantMessage, ToolCall, Usage


@dataclass(frozen=True, slots=True)
class Say:
    """One scripted answer: text, calls as (name, arguments), and how it comes."""

    text: str = ""
    calls: tuple[tuple[str, Json], ...] = ()
    pause: float = 0.0
    """Seconds before each word."""
    usage: Usage = field(default_factory=lambda: Usage(input_tokens=10, output_tokens=5, requests=1, cost=0.001))
    cut: bool = False
    """Whether it ends at the limit for its length."""
    false_start: str = ""
    """Text that is streamed and then taken back, as after a broken connection."""


Step = Say | str | BaseException | Callable[[Prompt], "Say | str"]


def call(name: str, **arguments: Any) -> tuple[str, Json]:
    return name, arguments


class ScriptedModel:
    """Gives the answers in order and keeps every prompt; an error in the script is raised instead of an answer.

    With `by_prompt` the place in the script is the number of answers in the conversation, not of calls to this object,
    so that a second process continues where the first one was killed.
    """

    def __init__(
        self,
        answers: Iterable[Step],
        *,
        name: str = "scripted",
        context_window: int = 100_000,
        by_prompt: bool = False,
    ) -> None:
        self._answers = tuple(answers)
        self._name = name
        self._window = context_window
        self._by_prompt = by_prompt
        self.prompts: list[Prompt] = []

    @property
    def name(self) -> str:
        return self._name

    @property
    def context_window(self) -> int:
        return self._window

    @property
    def calls(self) -> int:
        """How often it was asked."""
        return len(self.prompts)

    async def answer(self, prompt: Prompt, *, on_text: OnText) -> AssistantMessage:
        said = sum(isinstance(m, AssistantMessage) for m in prompt.messages)
        place = said if self._by_prompt else self.calls
        self.prompts.append(prompt)
        if place >= len(self._answers):
            raise ModelFailed(f"The script of {self._name} has only {counted(len(self._answers), 'answer')}.")
        step = self._answers[place]
        if isinstance(step, BaseException):
            raise step
        if not isinstance(step, Say | str):
            step = step(prompt)
        say = Say(step) if isinstance(step, str) else step
        await _stream(say, on_text)
        calls = tuple(ToolCall(f"call-{said}-{i}", name, arguments) for i, (name, arguments) in enumerate(say.calls))
        return AssistantMessage(say.text, calls, self._name, say.usage, cut=say.cut)


async def _stream(say: Say, on_text: OnText) -> None:
    if say.false_start:
        on_text(say.false_start)
        start_again(on_text)
    for place, word in enumerate(say.text.split(" ")):
        await asyncio.sleep(say.pause)
        if word or place:
            on_text(word if place == 0 else f" {word}")
    if not say.text:
        await asyncio.sleep(say.pause)
