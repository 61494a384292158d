"""Who answers for a project, seen from the pipeline: a prompt and its material in, one response out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from forge.agents.model import Picture
from forge.agents.streaming import Retry
from forge.events import ModelRetryScheduled
from forge.json_value import Json
from forge.plugins.contracts import TestResults, Worked

__all__ = ["AgentResponse", "Hands", "Order", "Picture", "Task"]


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of an agent once."""

    prompt: str
    """The name of the prompt file."""
    instructions: str
    """Its text."""
    material: Mapping[str, Any]
    nth: int = 1
    """How often this prompt was asked in this run, this time included."""
    pictures: tuple[Picture, ...] = ()
    run: str = ""
    attempt: int = 1
    retrying: Callable[[Retry], None] = field(default=lambda _: None, compare=False, repr=False)
    """Told when the request itself is made again, because of passing trouble with whoever answers."""

    @property
    def place(self) -> str:
        """Names this one request in its run, for good."""
        return f"{self.prompt} {self.nth}.{self.attempt}"

    def text(self) -> str:
        """The material as an agent reads it: fenced, because it is material and never instructions."""
        parts = [f"<{name}>\n{_readable(value)}\n</{name}>" for name, value in self.material.items()]
        return "\n\n".join(parts)


@dataclass(frozen=True, slots=True)
class AgentResponse:
    """What every agent's answer comes to, whether a model, a program or rules gave it."""

    success: bool
    output: str
    exit_code: int = 0
    timed_out: bool = False
    reason: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """What an agent is to do on a branch."""

    branch: str
    prompt: str
    """The name of the prompt file, which decides who does it."""
    instructions: str
    message: str
    trouble: Callable[[ModelRetryScheduled | None], None] = field(default=lambda _: None, compare=False, repr=False)
    """Told of each retry while the agent works, and with None when it answers again."""


class Hands(Protocol):
    """Everything that reaches outside the project's directory: agents, the code repository, its tests."""

    @property
    def name(self) -> str:
        """Who answers, as the project's status names it."""

    def who(self, prompt: str) -> str:
        """Who answers this prompt: roles may have different models."""

    def by_rules(self, prompt: str) -> bool:
        """Whether the built-in rules answer this prompt, which sort and write nothing."""

    @property
    def sees(self) -> bool:
        """Whether pictures can be shown."""

    async def answer(self, task: Task) -> AgentResponse: ...

    async def work(self, steps: Any, place: str, order: Order) -> Worked:
        """One turn of an agent on a branch; its steps are those of the run it is part of."""

    async def begin_branch(self, branch: str, baseline: str | None) -> Json:
        """Make the build branch if it is not there: `{"baseline": …, "tip": …}`."""

    async def run_tests(
        self, branch: str, *, since: str | None = None, known: TestResults | None = None
    ) -> TestResults:
        """All suites. Test files are compared with those of `since`; `known` is given back where it is a run of the
        same commit with the same command.
        """

    async def tip(self, branch: str) -> str | None: ...

    async def changed_files(self, branch: str, baseline: str | None) -> Mapping[str, str]: ...


def _readable(value: object) -> str:
    match value:
        case str():
            return value
        case Mapping() | Sequence():
            return json.dumps(value, indent=2, ensure_ascii=False)
        case _:
            return str(value)
