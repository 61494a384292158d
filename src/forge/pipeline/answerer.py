"""Who answers for a project, seen from the pipeline: a prompt and its material in, one response out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel

from forge.agents.model import Picture

if TYPE_CHECKING:
    from forge.agents.listener import Retry
    from forge.events import ModelRetryScheduled
    from forge.json_value import Json
    from forge.plugins.roles import TestResults, Worked

__all__ = ["AgentResponse", "Agents", "Objection", "Order", "Picture", "Task"]


@dataclass(frozen=True, slots=True)
class Objection:
    """An answer that could not be used, and why."""

    answer: str
    complaint: str

    def text(self) -> str:
        return (
            f"Your last answer could not be used. {self.complaint}\n\nCorrect that and nothing else: give the whole "
            "answer again, in the form that was asked for."
        )


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
    objection: Objection | None = None
    """To the last answer, which is sent back with it: what was sent before stays the beginning of the request."""
    schema: type[BaseModel] | None = None
    """The form of the answer, to which a provider binds the model if it can."""

    @property
    def place(self) -> str:
        """Names this one request in its run, for good."""
        return f"{self.prompt} {self.nth}.{self.attempt}"

    def text(self) -> str:
        """The material as an agent reads it: fenced, because it is material and never instructions."""
        parts = [f"<{name}>\n{_readable(value)}\n</{name}>" for name, value in self.material.items()]
        return "\n\n".join(parts)

    def whole_text(self) -> str:
        """For whoever reads one text instead of a conversation."""
        if self.objection is None:
            return self.text()
        last = f"<your_last_answer>\n{self.objection.answer}\n</your_last_answer>"
        return f"{self.text()}\n\n{last}\n\n{self.objection.text()}"


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
    """The system prompt, without what is known about the machine."""
    message: str
    title: str = ""
    """What the work is, in a few words: the subject of the commit where the agent gives none."""
    trouble: Callable[[ModelRetryScheduled | None], None] = field(default=lambda _: None, compare=False, repr=False)
    """Told of each retry while the agent works, and with None when it answers again."""


class Agents(Protocol):
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
        """All suites. Test files are compared with those of `since`; `known` is returned where it is a run of the
        same commit with the same command.
        """

    async def test_command(self, branch: str) -> str:
        """How the tests of the branch run, in words, with where that comes from; empty where there are none."""

    async def tip(self, branch: str) -> str | None: ...

    async def changed_files(self, branch: str, baseline: str | None) -> Mapping[str, str]: ...

    async def changes(self, branch: str, baseline: str | None) -> Json:
        """What a reviewer reads, as texts: `diff`, `new_files`, and `scope`, which says what counts."""

    async def repository(self) -> Json:
        """What a code repository that is there already tells of itself, as texts; empty where there is none."""

    async def environment(self) -> str:
        """What is installed where commands of this project run."""


def _readable(value: object) -> str:
    match value:
        case str():
            return value
        case Mapping() | Sequence():
            return json.dumps(value, indent=2, ensure_ascii=False)
        case _:
            return str(value)
