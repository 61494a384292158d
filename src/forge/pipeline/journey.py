"""One project under way: its durable steps, its files, and whoever has to be told of what happens."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pydantic import BaseModel

from forge.agents.errors import ModelFailed
from forge.errors import ForgeError
from forge.events import Event, ModelRetryScheduled, ProjectProgressed
from forge.json_value import Json
from forge.pipeline.answerer import AgentResponse, Agents, Objection, Picture, Task
from forge.pipeline.guards import GuardLimits
from forge.pipeline.project_change import card_of, commit_change, note_cards, publish_change
from forge.plugins.errors import AgentFailed, AnswerUnusable
from forge.plugins.roles import Card, DeliverableType, Notice
from forge.projects.status import Phase
from forge.question_kinds import QuestionKind

if TYPE_CHECKING:
    from forge.agents.listener import Retry
    from forge.engine.run import Reply
    from forge.pipeline.draft import Draft
    from forge.projects.project import Project

T = TypeVar("T")
Gather = Callable[[], Awaitable[Json]]
_ATTEMPTS = 2


class Steps(Protocol):
    """The durable run that a phase is."""

    @property
    def id(self) -> str: ...

    async def step(self, name: str, function: Callable[[], Awaitable[Any]]) -> Any: ...

    def emit(self, event: Event, *, topic: str | None = None) -> None: ...

    async def ask(
        self,
        text: str,
        options: Sequence[str] = (),
        *,
        kind: QuestionKind = QuestionKind.TEXT,
        timeout: float | None = None,
        context: str = "",
    ) -> Reply: ...


@dataclass(frozen=True, slots=True)
class Parameters:
    """What a person can set of the pipeline."""

    limits: GuardLimits = field(default_factory=GuardLimits)
    retry_malformed_output: int = 2
    min_word_count: int = 10
    max_file_size_mb: float = 50
    plan_min_chars: int = 100
    code_require_tests: bool = True
    registries: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Addresses, by name, that are asked about open-source components."""


@dataclass(frozen=True, slots=True)
class Explored:
    """Lines of an exploration, each with the id of what it rests on, such as `[A1]`."""

    text: str = ""
    constraints: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    unknowns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Around:
    """What every project's run is handed from above."""

    agents: Agents
    instructions: Callable[[str], str]
    """The text of a prompt file, as it is now."""
    types: Mapping[str, DeliverableType]
    parameters: Parameters
    now: Callable[[], float]
    notify: Callable[[str, Notice], None]
    """Puts a notice into the outbox, once for each key; never waits for a network."""
    mirror: Callable[[Mapping[str, str], Card], Awaitable[Json]]
    """Shows the card on the boards that are set; gives what each board calls it, and warnings."""
    paid: Callable[[str, AgentResponse], None]
    redact: Callable[[str], str]
    """The same text with nothing secret in it."""
    explored: Callable[[], Explored] = Explored
    """What an exploration hands on, where the person made it the brain dump."""
    agents_now: Callable[[], Agents] | None = None
    """Whoever answers from here on: a person may have chosen another model."""


class Journey:
    def __init__(self, project: Project, steps: Steps, around: Around) -> None:
        """Reads the project, which may wait for whoever writes to it: not for an event loop."""
        self.project = project
        self.steps = steps
        self.around = around
        self.phase = project.status().phase
        """As this run has made it."""
        self._asked: Counter[str] = Counter()
        self._writes = 0

    async def renew(self) -> None:
        """After a person decided: continue with whom they chose."""
        if self.around.agents_now is not None:
            agents = await asyncio.to_thread(self.around.agents_now)
            self.around = replace(self.around, agents=agents)

    # Files

    async def change(
        self, what: Callable[[Draft], None], message: str, *, event_type: str = "", summary: str = ""
    ) -> Json:
        """Change the project's files in one commit, once, and tell of it. `event_type` makes it a notice too."""
        self._writes += 1
        place = f"{self.steps.id}/{self._writes}"

        async def write() -> Json:
            write = partial(commit_change, self.project, what, message, now=self.around.now(), step=place)
            return await asyncio.to_thread(write)

        done: Json = await self.steps.step(f"write {self._writes}: {message}", write)
        self.phase = Phase(done["phase"])
        await self._tell(done, place, event_type, summary)
        return done

    async def _tell(self, done: Json, place: str, event_type: str, summary: str) -> None:
        has_moved = publish_change(self.project, done, self.steps.emit)
        if event_type:
            notice = Notice(self.project.id, done["name"], done["phase"], event_type, summary)
            await asyncio.to_thread(self.around.notify, place, notice)
        if has_moved:
            await self._mirror(done)

    async def _mirror(self, done: Json) -> None:
        """Boards are somebody else's: what fails there is noted in the log and stops nothing."""

        async def show() -> Json:
            card = await asyncio.to_thread(card_of, self.project, self.around.types)
            card = replace(card, name=done["name"], phase=done["phase"], agent=self.around.agents.name)
            return await self.around.mirror((await asyncio.to_thread(self.project.info)).cards, card)

        shown: Json = await self.steps.step(f"board: {done['phase']}", show)
        for warning in shown.get("warnings", ()):
            self.project.log.write("warn", "error", done["phase"], warning)
        if shown.get("cards"):
            await self.change(partial(note_cards, cards=shown["cards"]), "board: cards")

    # Words

    async def say(self, text: str) -> None:
        await self.change(lambda draft: draft.say(text), "chat: Forge")

    def progress(self, text: str, *, event: str = "agent_call", level: str = "info") -> None:
        self.project.log.write(level, event, str(self.phase), text)
        self.steps.emit(ProjectProgressed(self.project.id, text))

    # Agents

    async def ask(
        self,
        prompt: str,
        material: Mapping[str, Any],
        *,
        pictures: tuple[Picture, ...] = (),
        gather: Gather | None = None,
        schema: type[BaseModel] | None = None,
        objection: Objection | None = None,
    ) -> str:
        """One answer, recorded. A failure is tried once more; the second one raises `AgentFailed`.

        `gather` adds to the material what is read only when somebody is really asked.
        """
        self._asked[prompt] += 1
        nth = self._asked[prompt]
        self.steps.emit(ProjectProgressed(self.project.id, f"{self.around.agents.who(prompt)}: {prompt}"))

        async def call() -> Json:
            gathered = await gather() if gather is not None else {}
            task = Task(
                prompt,
                self.around.instructions(prompt),
                {**material, **gathered},
                nth,
                pictures,
                run=self.steps.id,
                retrying=partial(self._tell_retry, self.around.agents.who(prompt)),
                objection=objection,
                schema=schema,
            )
            return asdict(await self._response(task))

        done = AgentResponse(**await self.steps.step(f"ask {prompt} {nth}", call))
        if not done.success:
            raise AgentFailed(
                f"{self.around.agents.who(prompt)} did not answer, although it was asked twice: {done.reason}",
                hint="Retry, or choose another model.",
            )
        return done.output

    def _tell_retry(self, who: str, retry: Retry) -> None:
        text = retry.text()
        self.project.log.write("warn", "agent_call", str(self.phase), f"{who}: {text}")
        self.steps.emit(
            ModelRetryScheduled(
                who, retry.kind, retry.attempt, retry.attempts, retry.wait, text, project=self.project.id
            )
        )

    def tell_trouble(self, retry: ModelRetryScheduled | None) -> None:
        """Trouble in a turn of the build, which is told on its branch too; None when the model answers again."""
        if retry is None:
            self.project.log.write("info", "agent_response", str(self.phase), "answers again")
            self.steps.emit(ProjectProgressed(self.project.id, "The model answers again."))
            return
        self.project.log.write("warn", "agent_call", str(self.phase), f"{retry.model}: {retry.text}")
        self.steps.emit(replace(retry, turn="", project=self.project.id))

    async def _response(self, task: Task) -> AgentResponse:
        response = AgentResponse(success=False, output="", exit_code=1)
        phase, who = str(self.phase), self.around.agents.who(task.prompt)
        for attempt in range(1, _ATTEMPTS + 1):
            again = f" (attempt {attempt})" if attempt > 1 else ""
            self.project.log.write("info", "agent_call", phase, f"{task.prompt} to {who}{again}")
            asked_again = False
            try:
                response = await self.around.agents.answer(replace(task, attempt=attempt))
            except ForgeError as e:
                asked_again = isinstance(e, ModelFailed) and e.asked_again
                response = AgentResponse(success=False, output="", exit_code=1, reason=f"{e.message} {e.hint}".strip())
            # Also what came to nothing has its price.
            await asyncio.to_thread(self.around.paid, f"{task.prompt} {task.nth}.{attempt}", response)
            if response.success and response.output.strip():
                self.project.log.write("info", "agent_response", phase, f"{len(response.output):,} characters")
                return response
            reason = response.reason or ("it timed out" if response.timed_out else "it gave an empty answer")
            self.project.log.write("error", "agent_response", phase, f"{task.prompt} failed: {reason}")
            response = AgentResponse(
                success=False, output="", exit_code=response.exit_code, timed_out=response.timed_out, reason=reason
            )
            if asked_again:
                break
        return response

    async def asked(
        self,
        prompt: str,
        material: Mapping[str, Any],
        parse: Callable[[str], T],
        *,
        pictures: tuple[Picture, ...] = (),
        gather: Gather | None = None,
        schema: type[BaseModel] | None = None,
    ) -> T:
        """An answer of the right form: sent back with what was wrong with it, an agent may correct it."""
        objection: Objection | None = None
        for _ in range(1 + self.around.parameters.retry_malformed_output):
            output = await self.ask(
                prompt, material, pictures=pictures, gather=gather, schema=schema, objection=objection
            )
            try:
                return parse(output)
            except ForgeError as e:
                problem = f"{e.message} {e.hint}".strip()
                objection = Objection(output, problem)
            self.project.log.write("error", "agent_response", str(self.phase), f"{prompt} was unusable: {problem}")
        who = self.around.agents.who(prompt)
        raise AnswerUnusable(
            f"{who} answered, but not in a form that Forge can use.", hint="Retry, or choose another model."
        )
