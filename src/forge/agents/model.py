"""What the turn loop asks of a model, whoever stands behind it: one prompt in, one answer out, text as it comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from forge.json_value import Json
from forge.sessions.messages import AssistantMessage, Message
from forge.tools.tool import ToolSchema


@dataclass(frozen=True, slots=True)
class Picture:
    """An image, for models that can see."""

    path: str
    media_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """A JSON object that the answer has to be."""

    name: str
    schema: Json = field(repr=False)


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything a model gets, in the order it gets it: what comes earlier changes less often."""

    system: str
    tools: tuple[ToolSchema, ...]
    messages: tuple[Message, ...]
    pictures: tuple[Picture, ...] = ()
    """Shown with the last message."""
    form: AnswerForm | None = None
    """Who can bind its answer to this does; the text of the answer is then that object."""


OnText = Callable[[str], None]
"""Called with each piece of text as it arrives; pieces joined are the answer's text."""


@runtime_checkable
class Model(Protocol):
    """A model behind an API, the built-in engine, a recording or a script."""

    @property
    def name(self) -> str:
        """As a person writes it in settings, for example `anthropic:claude-sonnet-5`."""

    @property
    def context_window(self) -> int:
        """How many tokens one request may hold."""

    async def answer(self, prompt: Prompt, *, on_text: OnText) -> AssistantMessage:
        """Ask once. Cancelling the task ends the request; failures are `ForgeError`s of `forge.agents.errors`."""
