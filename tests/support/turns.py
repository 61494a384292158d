"""A turn in a test: a scripted model, the real tools, a real repository, and steps that can be made to break off."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from forge.agents.limit_check import Spent
from forge.agents.loop import Loop
from forge.agents.model import Model
from forge.agents.model_turn import ModelTurn
from forge.agents.profile import Profile
from forge.agents.relay.journal import Journal
from forge.agents.stream import Stream
from forge.agents.turn import Room, TurnEnd, TurnRequest, Work, run_turn
from forge.app.sessions.sandbox_commands import TurnCommands
from forge.context.source import ContextSettings, Source
from forge.context.summary_cache import SummaryCache
from forge.engine.errors import RunCancelled
from forge.engine.run import Reply
from forge.events import Event
from forge.git import Repository
from forge.sessions.messages import AssistantMessage, Usage
from forge.sessions.places import Sessions
from forge.sessions.redaction import Redactor
from forge.settings import CostLimits
from forge.tools.registry import builtin_tools
from tests.support.toolboxes import open_toolbox


class Killed(BaseException):
    """What a dead process does: nothing more."""


@dataclass
class Ledger:
    """What survives a crash: the steps that were recorded."""

    done: dict[str, str] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    questions: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)


@dataclass
class MemorySteps:
    """Steps in memory. `kill` says when the process dies: (`before` | `ran` | `recorded`, name of the step)."""

    ledger: Ledger
    kill: tuple[str, str] | None = None
    cancel: str | None = None
    id: str = "run"
    scope: str = ""
    scopes: set[str] = field(default_factory=set)
    answers: tuple[str | None, ...] = ()
    """What a person says to each question; None for a question that is withdrawn."""
    _asked: int = 0

    def scoped(self, name: str) -> MemorySteps:
        assert name not in self.scopes, f"the scope {name} is used twice"
        self.scopes.add(name)
        return replace(self, scope=name)

    async def step(self, name: str, function: Callable[[], Awaitable[Any]]) -> Any:
        name = f"{self.scope}/{name}" if self.scope else name
        if name not in self.ledger.done:
            self._die("before", name)
            if self.cancel == name:
                self.cancel = None
                raise RunCancelled("cancelled")
            self.ledger.ran.append(name)
            result = json.dumps(await function())
            self._die("ran", name)
            self.ledger.done[name] = result
            self._die("recorded", name)
        return json.loads(self.ledger.done[name])

    async def ask(self, text: str, options: Sequence[str] = ()) -> Reply:
        self._asked += 1
        number = self._asked

        async def ask() -> Any:
            self.ledger.questions.append((text, tuple(options)))
            return self.answers[number - 1]

        answer = await self.step(f"ask {number}", ask)
        return Reply("cancelled") if answer is None else Reply("answered", answer)

    def emit(self, event: Event) -> None:
        self.ledger.events.append(event)

    def _die(self, when: str, name: str) -> None:
        if self.kill == (when, name):
            raise Killed


def request(text: str, mark: str = "0badcafe0bad", branch: str = "ai/x") -> TurnRequest:
    return TurnRequest(mark, branch, text, "Ada <ada@example.org>", 1_700_000_000.0, "scripted")


async def turn(
    repo: Repository,
    model: Model,
    asked: TurnRequest,
    steps: MemorySteps | None = None,
    *,
    limits: CostLimits | None = None,
    secrets: tuple[str, ...] = (),
    spent: Spent | None = None,
    window: int = 100_000,
    beside: bool = False,
    work: Work | None = None,
) -> TurnEnd:
    # A new process opens everything anew.
    repo = Repository.open(repo.git_dir)
    redactor = Redactor(secrets)
    source = Source(repo.objects, SummaryCache(repo.common_dir / "forge" / "summaries"), redactor.text)
    stream = Stream(source, ContextSettings.for_window(window), window)
    commands = TurnCommands(repo)

    def used(usage: Usage) -> Spent:
        return spent or Spent(usage.cost or 0, usage.cost or 0, usage.cost or 0, usage.requests)

    def paid(step: str, answer: AssistantMessage) -> None: ...

    loop = Loop(
        profile=Profile("chat", "chat", "You are a test."),
        model=model,
        toolbox=open_toolbox(builtin_tools(commands, asks=True)),
        journal=Journal(repo.common_dir / "forge" / "answers"),
        paid=paid,
        redactor=redactor,
        limits=limits or CostLimits(),
        spent=used,
        interrupt=commands.interrupt,
    )
    room = Room(repo, Sessions(repo, beside=beside), stream, redactor)
    return await run_turn(asked, room, work or ModelTurn(loop), steps or MemorySteps(Ledger()))
