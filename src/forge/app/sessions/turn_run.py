"""The durable run behind a turn: puts together from its arguments what it needs, in whichever process runs it."""

from __future__ import annotations

import asyncio
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import cast

from forge.agents.decision_request import is_requested
from forge.agents.desk import Stopped, TurnDesk
from forge.agents.limit_check import Spent
from forge.agents.loop import Loop
from forge.agents.model import Model, OnText, Prompt
from forge.agents.model_turn import ModelTurn
from forge.agents.models import registry
from forge.agents.profile import ASK_USER, CHAT, Profile
from forge.agents.program_turn import ProgramTurn
from forge.agents.steps import Steps
from forge.agents.stream import Stream
from forge.agents.turn import Room, TurnRequest, Work, run_turn
from forge.app.admin.agent_programs import found_program
from forge.app.admin.plugins import plugins_of
from forge.app.admin.profiles import profiles_of
from forge.app.process.workshop import Workshop, journal_of
from forge.app.projects.resource_files import resource_texts, resource_tool
from forge.app.projects.run_needs import turn_lacks, turn_needs
from forge.app.repositories.catalog import id_of, opened
from forge.app.repositories.environment_access import follow_branch
from forge.app.sessions.branch_turn import WORKFLOW, release_left_over
from forge.app.sessions.conversation import sessions_of
from forge.app.sessions.sandbox_commands import TurnCommands
from forge.context import use_skill
from forge.context.source import ContextSettings, Source
from forge.context.summary_cache import SummaryCache
from forge.engine.run import Run
from forge.errors import ForgeError
from forge.events import QuestionClosed
from forge.git import Repository, WorkInProgressVFS
from forge.git.refs.reservations import release, reservation
from forge.json_value import Json
from forge.plugins.roles import ToolContext
from forge.sessions.conversation import read_head
from forge.sessions.messages import AssistantMessage, Usage
from forge.sessions.redaction import Redactor
from forge.sessions.turns import TurnStatus
from forge.settings import Settings
from forge.store.costs import day_of
from forge.tools.registry import builtin_tools
from forge.tools.suites.command import repository_command
from forge.tools.suites.record import Records
from forge.tools.tool import Tool
from forge.tools.toolbox import Toolbox
from forge.tools.user_tools import approved_tools

_AGAIN = 0.2
_WINDOW = 128_000
"""For who does not tell how much it can read."""


def register(shop: Workshop) -> None:
    shop.engine.register(WORKFLOW, partial(_turn, shop), lacks=partial(turn_lacks, shop), needs=turn_needs)


async def _turn(shop: Workshop, run: Run, arguments: Json) -> Json:
    # A run that an earlier version began does not say who asked.
    request = TurnRequest(**{name: arguments[name] for name in TurnRequest.__dataclass_fields__ if name in arguments})
    repo = await asyncio.to_thread(opened, Path(arguments["repository"]))
    await _until_free(shop, repo, request)
    bench = _Bench(
        shop,
        repo,
        request,
        run.id,
        arguments["agent"],
        test_command=arguments.get("test_command") or "",
        profile=await asyncio.to_thread(_profile, shop, arguments),
        resources=Path(arguments["resources"]) if arguments.get("resources") else None,
    )
    try:
        end = await run_turn(request, bench.room, bench, run)
    except ForgeError:
        # It will not be gone on with, so nobody may have to wait for it.
        await asyncio.to_thread(release, repo.common_dir, request.branch, request.mark)
        await asyncio.to_thread(repo.refs.held.let_go, request.mark)
        await asyncio.to_thread(journal_of(shop).forget, run.id)
        raise
    finally:
        shop.begun.discard(run.id)
    # Not steps: done again after a crash, they do nothing.
    if end.status is TurnStatus.CANCELLED:
        await _withdraw_questions(shop, run)
    await asyncio.to_thread(journal_of(shop).forget, run.id)
    await asyncio.to_thread(follow_branch, shop, repo, request.branch)
    return asdict(end)


async def _withdraw_questions(shop: Workshop, run: Run) -> None:
    """A turn that was cancelled before it came back to its question, after a crash, has left it open."""
    for question in await asyncio.to_thread(shop.engine.open_questions, run_id=run.id):
        if await shop.engine.withdraw(question.id):
            run.emit(QuestionClosed(question.id, run.id, "cancelled", None))


async def _until_free(shop: Workshop, repo: Repository, request: TurnRequest) -> None:
    """Two turns of one branch that a worker found at once, after a crash, go one after the other."""
    while True:
        await asyncio.to_thread(release_left_over, shop, repo, request.branch)
        held = await asyncio.to_thread(reservation, repo.common_dir, request.branch)
        if held is None or held.holder == request.mark:
            return
        await asyncio.sleep(_AGAIN)


def _profile(shop: Workshop, arguments: Json) -> Profile | ForgeError:
    """A turn that began under an older release has the parts of a profile among its arguments; a program needs none."""
    if arguments.get("profile") is not None:
        return Profile.from_json(arguments["profile"])
    instructions = arguments.get("instructions")
    try:
        profile = profiles_of(shop.settings).get("chat")
    except ForgeError as e:
        return e
    profile = replace(profile, system=instructions) if instructions else profile
    return profile if arguments.get("asks", False) else profile.without_tools(ASK_USER)


class _Bench:
    """Finds who answers and what they may use. What is missing by now ends the turn, and its conversation is kept."""

    def __init__(
        self,
        shop: Workshop,
        repo: Repository,
        request: TurnRequest,
        run: str,
        agent: str | None,
        *,
        test_command: str,
        profile: Profile | ForgeError,
        resources: Path | None,
    ) -> None:
        self._resources = resources
        self._shop = shop
        self._repo = repo
        self._request = request
        self._run = run
        self._agent = agent
        self._test_command = test_command
        self._profile = profile
        self._model: Model | None = None if agent else _resolved(request.model, shop)
        window = self._model.context_window if self._model is not None else _WINDOW
        self._stream = Stream(_source(repo, shop.redactor), context_settings(shop.settings, window), window)
        self.room = Room(repo, sessions_of(repo, shop.settings), self._stream, shop.redactor)

    async def __call__(self, desk: TurnDesk, steps: Steps) -> None:
        try:
            work = await asyncio.to_thread(self._work, desk)
        except ForgeError as e:
            raise Stopped(TurnStatus.FAILED, f"{e.message} {e.hint}".strip()) from e
        await work(desk, steps)

    def _work(self, desk: TurnDesk) -> Work:
        shop = self._shop
        if self._agent is not None:
            found = found_program(shop.settings, shop.environ, self._agent)
            model = self._request.model.removeprefix(self._agent).removeprefix(":")
            home = Path(shop.environ.get("HOME", "/"))
            return ProgramTurn(
                found,
                self._request.model,
                model,
                shop.environ,
                home,
                shop.redactor,
                self._paid,
                silence=shop.settings.agents.call_timeout_seconds,
                instructions=self._role_prompt(),
                resources=self._given,
                surroundings=partial(shop.environments.around, self._repo, desk.vfs),
            )
        assert self._model is not None
        plain = self._request.model == shop.unconfined
        commands = TurnCommands(self._repo, plain=plain, environments=shop.environments)
        if isinstance(self._profile, ForgeError):
            raise self._profile
        loop = Loop(
            profile=self._profile,
            model=self._model,
            toolbox=self._toolbox(desk.vfs, commands, self._profile),
            journal=journal_of(shop),
            paid=self._paid,
            redactor=shop.redactor,
            limits=shop.settings.limits,
            spent=partial(self._spent, read_head(desk.vfs).usage),
            stop=is_requested,
            interrupt=commands.interrupt,
        )
        return ModelTurn(loop)

    def _role_prompt(self) -> str:
        """Of whoever builds for a project; in a chat a program has its own."""
        profile = self._profile
        return "" if isinstance(profile, ForgeError) or profile.role == CHAT else profile.system

    def _given(self) -> AbstractContextManager[Path | None]:
        if self._resources is None:
            return nullcontext()
        size = self._shop.settings.resource.max_file_size_mb
        return resource_texts(self._resources, size, self._shop.redactor.text)

    def _tests(self, vfs: WorkInProgressVFS) -> str:
        set_by_person = self._test_command or repository_command(self._repo)
        return set_by_person or self._shop.environments.test_command(self._repo, vfs)

    def _toolbox(self, vfs: WorkInProgressVFS, commands: TurnCommands, profile: Profile) -> Toolbox:
        context = ToolContext(self._repo.git_dir, self._request.branch, self._run, profile.role)
        brought = plugins_of(self._shop.settings).made_tools(context)
        taken = {tool.get_schema()["name"] for tool in brought}
        own, _ = approved_tools(vfs, self._shop.tool_schemas, cancel=commands.cancelled, find_layer=commands.tool_layer)
        # The repository's own come last, so that approving one leaves the beginning of what is sent as it was.
        rest = (tool for tool in own if tool.get_schema()["name"] not in taken)
        builtin = builtin_tools(
            commands,
            test_command=self._tests(vfs),
            records=Records(self._repo.common_dir, self._shop.redactor.text, commands.layer_key),
            asks=True,
        )
        size = self._shop.settings.resource.max_file_size_mb
        given = (cast("Tool", resource_tool(self._resources, size)),) if self._resources is not None else ()
        usual = (*builtin, cast("Tool", use_skill), *given)
        return Toolbox((*usual, *brought, *rest), profile.tools)

    def _spent(self, session: Usage, turn: Usage) -> Spent:
        today = self._shop.costs.total(day=day_of(time.time()))
        return Spent(turn.cost or 0.0, (session + turn).cost or 0.0, today.cost or 0.0, turn.requests)

    def _paid(self, step: str, answer: AssistantMessage) -> None:
        self._shop.costs.record(
            self._run,
            step,
            repository=str(self._repo.common_dir),
            branch=self._request.branch,
            model=answer.model or self._request.model,
            usage=answer.usage,
            time=time.time(),
            session=f"{id_of(self._repo)}:{self._request.branch}",
        )


@lru_cache(maxsize=32)
def _source(repo: Repository, redactor: Redactor) -> Source:
    """One for all turns on a repository: what was rendered for one is there for the next, whatever its branch."""
    return Source(repo.objects, SummaryCache(repo.common_dir / "forge" / "summaries"), redactor.text)


@dataclass(frozen=True, slots=True)
class _AbsentModel:
    """A model that this process cannot ask. Answers that are on record are replayed all the same."""

    name: str
    error: ForgeError
    context_window: int = _WINDOW

    async def answer(self, prompt: Prompt, *, on_text: OnText) -> AssistantMessage:  # noqa: ARG002
        raise self.error


def _resolved(name: str, shop: Workshop) -> Model:
    try:
        return registry.resolve(name, shop.settings)
    except ForgeError as e:
        return _AbsentModel(name, e)


def context_settings(settings: Settings, window: int) -> ContextSettings:
    """By the size of the window, except for what the person has set."""
    chosen, usual = settings.context, ContextSettings.for_window(window)
    return replace(
        usual,
        exclude=(*usual.exclude, *chosen.exclude),
        overview_tokens=usual.overview_tokens if chosen.overview_tokens is None else chosen.overview_tokens,
        file_tokens=usual.file_tokens if chosen.file_tokens is None else chosen.file_tokens,
        compact_share=chosen.compact_at,
    )
