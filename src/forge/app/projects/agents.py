"""Who works for a project: a model, an agent program, the built-in rules or a recording, and the code repository."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from forge import builtin_rules
from forge.agents.answer_form import form_of
from forge.agents.decision_request import DecisionRequest
from forge.agents.limit_check import Spent, check
from forge.agents.listener import Retry
from forge.agents.model import Prompt
from forge.agents.models import registry
from forge.agents.profile import READ_RESOURCE
from forge.agents.programs import run_program
from forge.agents.turn import TurnRequest
from forge.app.access.identity import owner_of
from forge.app.admin.agent_programs import found_program, programs
from forge.app.admin.profiles import profiles_of
from forge.app.process.workshop import Workshop, journal_of
from forge.app.projects import holds
from forge.app.projects.branch_changes import changed_texts, reviewed_changes
from forge.app.projects.chosen_agents import RECORDED, ChosenAgents
from forge.app.projects.code_repository import new_code_repository, repository_facts
from forge.app.projects.environment import installed
from forge.app.projects.suite_runs import run_tests
from forge.app.projects.user_notes import with_user_notes
from forge.app.repositories.catalog import subject_of
from forge.app.sessions.branch_turn import WORKFLOW, run_of
from forge.engine.errors import RunCancelled
from forge.errors import ForgeError
from forge.events import ModelRetryScheduled, ProjectProgressed
from forge.git import Actor, ActorKind, CommitId, Repository, Request
from forge.json_value import Json
from forge.pipeline.answerer import AgentResponse, Order, Task
from forge.pipeline.journey import Steps
from forge.pipeline.recorded import RecordedAnswers
from forge.plugins.roles import TestResults, Worked
from forge.projects.project import Project
from forge.sessions.messages import AssistantMessage, Message, Usage, UserMessage
from forge.store.costs import day_of
from forge.tools.suites.command import command_of, repository_command


@asynccontextmanager
async def _hearing_trouble(
    shop: Workshop, topic: str, tell: Callable[[ModelRetryScheduled | None], None]
) -> AsyncIterator[None]:
    """Tell of each retry in the turn on `topic`, and with None that the model answers again."""
    after = await asyncio.to_thread(shop.events.last, topic)

    async def listen() -> None:
        is_troubled = False
        async with aclosing(shop.events.follow(topic, after)) as heard:
            async for item in heard:
                if isinstance(item.event, ModelRetryScheduled):
                    tell(item.event)
                    is_troubled = True
                elif is_troubled:
                    tell(None)
                    is_troubled = False

    listening = asyncio.ensure_future(listen())
    try:
        yield
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


class _Heard:
    """Listens for trouble and for what was paid in vain; the text itself counts when it is whole."""

    def __init__(self, told: Callable[[Retry], None]) -> None:
        self.lost = Usage()
        self._told = told

    def __call__(self, piece: str) -> None: ...

    def retrying(self, retry: Retry) -> None:
        self._told(retry)

    def spent(self, usage: Usage) -> None:
        self.lost += usage


@dataclass(frozen=True, slots=True)
class ProjectAgents(ChosenAgents):
    """Implements `forge.pipeline.answerer.Agents`."""

    code: Path | None
    project: str = ""
    """Its id: what it may cost is counted under it."""
    timeout: float = 300.0
    set_test_command: str = ""
    """What a person set for this project; empty goes by the repository."""
    resources: Path | None = None
    """Files that the person gave."""
    baseline: str | None = None
    _installed: list[str] = field(default_factory=list, compare=False, repr=False)
    """Asked once: it stands in the system prompt, which is to stay the same."""

    async def answer(self, task: Task) -> AgentResponse:
        who = self.who(task.prompt)
        if self.by_rules(task.prompt):
            said = self.shop.redactor.text(builtin_rules.answer(task.prompt, task.material))
            return AgentResponse(success=True, output=said, model=who)
        if who.startswith(RECORDED):
            answers = RecordedAnswers.named(who.removeprefix(RECORDED))
            return AgentResponse(success=True, output=answers.answer(task.prompt, task.nth), model=who)
        heard = _Heard(task.retrying)
        is_program = who in programs(self.shop.settings)
        asked = self._program(who, task, heard) if is_program else self._model(who, task, heard)
        try:
            async with asyncio.timeout(self.timeout):
                return await asked
        except TimeoutError:
            reason, timed_out = f"{who} did not answer within {self.timeout:g} s", True
        except ForgeError as e:
            reason, timed_out = f"{e.message} {e.hint}".strip(), False
        return AgentResponse(
            success=False,
            output="",
            exit_code=1,
            timed_out=timed_out,
            reason=reason,
            usage=asdict(heard.lost),
            model=who,
        )

    async def _model(self, who: str, task: Task, heard: _Heard) -> AgentResponse:
        model = registry.resolve(who, self.shop.settings)
        check(self.shop.settings.limits, await asyncio.to_thread(self._spent))
        text = self.shop.redactor.text(await asyncio.to_thread(self._with_notes, task.text()))
        prompt = Prompt(task.instructions, (), self._messages(who, text, task), task.pictures, form_of(task.schema))
        # Whole and not yet on record when the process dies, it is found there and not paid for again.
        page = journal_of(self.shop).page(task.run, task.place)
        try:
            with page.opened():
                said = await model.answer(prompt, on_text=heard)
        except asyncio.CancelledError:
            # Nobody wants it any more: the relay breaks the request off.
            page.discard()
            raise
        output = self.shop.redactor.text(said.text)
        return AgentResponse(success=True, output=output, usage=asdict(said.usage), model=said.model or who)

    def _with_notes(self, text: str) -> str:
        return with_user_notes(self.shop, self.project, text)

    def _messages(self, who: str, text: str, task: Task) -> tuple[Message, ...]:
        """An answer that is sent back comes after what was asked, as it was: a provider has that in its cache."""
        if task.objection is None:
            return (UserMessage(text),)
        complaint = self.shop.redactor.text(task.objection.text())
        return UserMessage(text), AssistantMessage(task.objection.answer, model=who), UserMessage(complaint)

    def _spent(self) -> Spent:
        costs = self.shop.costs
        today, project = costs.total(day=day_of(time.time())), costs.total(session=self.project)
        return Spent(session=project.cost or 0.0, day=today.cost or 0.0)

    async def _program(self, who: str, task: Task, heard: _Heard) -> AgentResponse:
        """In a directory of its own: what it writes there is dropped, only its words count."""
        found = found_program(self.shop.settings, self.shop.environ, who)
        sent = await asyncio.to_thread(self._with_notes, task.whole_text())
        text = self.shop.redactor.text(f"{task.instructions}\n\n{sent}\n")
        with tempfile.TemporaryDirectory(prefix="forge-ask-") as place:
            scratch = Repository.init(Path(place))
            vfs = scratch.workspace("main")
            for picture in task.pictures:
                vfs.write_bytes(picture.path, picture.data)
            home = Path(self.shop.environ.get("HOME", "/"))
            run = await run_program(
                found,
                text,
                vfs,
                scratch.materialize,
                env=self.shop.environ,
                logins=home,
                on_text=heard,
                timeout=self.timeout,
            )
        output = self.shop.redactor.text(run.output)
        return AgentResponse(
            run.success, output, run.exit_code, run.timed_out, reason=run.error, usage=asdict(run.usage), model=who
        )

    # The code repository

    def _repo(self) -> Repository:
        assert self.code is not None
        return Repository.open(self.code)

    def _standing(self, branch: str) -> Repository:
        """The repository, with the build branch as the last step left it: plain git may have come in between."""
        repo = self._repo()
        if said := holds.standing(repo, self.project, branch):
            self.shop.events.publish(f"project:{self.project}", ProjectProgressed(self.project, said))
        return repo

    def _hold(self, branch: str) -> None:
        """What the next step continues from."""
        repo = self._standing(branch)
        found = holds.held_of(repo, self.project)
        if found is not None:
            holds.hold(repo, self.project, found[0], repo.refs.tip(branch) or found[1])

    def _repo_to_work_in(self) -> Repository:
        """Asked for in a step: who may build there can change while a project builds."""
        from forge.app.projects.repository_rights import refuse_where_nobody_may_build  # noqa: PLC0415 - it stands above

        assert self.code is not None
        refuse_where_nobody_may_build(self.shop, self.project, self.code)
        return self._repo()

    async def work(self, steps: Steps, place: str, order: Order) -> Worked:
        """A turn like any other: its own durable run, which this one waits for."""
        repo = await asyncio.to_thread(self._standing, order.branch)
        who, branch = self.who(order.prompt), order.branch
        agent = who if who in programs(self.shop.settings) else None
        mark = hashlib.sha256(f"{steps.id}/{place}".encode()).hexdigest()[:12]

        async def request() -> Json:
            author = (await asyncio.to_thread(self._repo_to_work_in)).signature()
            name = f"{author.name} <{author.email}>"
            user = await asyncio.to_thread(owner_of, self.shop, "project", self.project)
            asked = TurnRequest(mark, branch, order.message, name, time.time(), who, user=user)
            return asdict(replace(asked, title=order.title, is_build=True))

        asked = await steps.step(f"{place}: request", request)
        system = f"{order.instructions}\n<environment>\n{await self.environment()}\n</environment>\n"
        system = self.shop.redactor.text(await asyncio.to_thread(self._with_notes, system))
        profile = replace(profiles_of(self.shop.settings).get(order.prompt), system=system).with_tools(READ_RESOURCE)
        resources = str(self.resources) if self.resources is not None else None
        arguments = {
            "repository": str(repo.git_dir),
            "agent": agent,
            "test_command": self.set_test_command,
            "profile": profile.to_json(),
            "resources": resources,
            **asked,
        }
        run = run_of(mark)
        await self.shop.engine.start_run(WORKFLOW, arguments, run_id=run, subject=subject_of(repo, branch))
        self.shop.engine.take_over(run)

        async def end() -> Json:
            try:
                async with _hearing_trouble(self.shop, subject_of(repo, branch).topic, order.trouble):
                    ended = dict(await self.shop.engine.handle(run).result())
            except RunCancelled:
                await self.shop.engine.cancel(run)
                raise
            except ForgeError as e:
                return {"status": "failed", "reason": f"{e.message} {e.hint}".strip(), "text": "", "commit": None}
            await asyncio.to_thread(self._hold, branch)
            return ended

        done = await steps.step(f"{place}: end", end)
        return Worked(
            success=done["status"] == "done" and not done.get("set_aside"),
            text=done["text"],
            commit=done["commit"],
            files=tuple(done.get("files", ())),
            reason=done["reason"] or (f"its work is on {done['set_aside']}" if done.get("set_aside") else ""),
            decision=DecisionRequest.from_json(done["decision"]) if done.get("decision") else None,
        )

    async def begin_branch(self, branch: str, baseline: str | None) -> Json:
        def begin() -> Json:
            assert self.code is not None
            repo = Repository.open(self.code) if self.code.exists() else new_code_repository(self.code)
            holds.standing(repo, self.project, branch)
            tip = repo.refs.tip(branch)
            if tip is None:
                owner = owner_of(self.shop, "project", self.project)
                actor = Actor(ActorKind.BUILD, self.name, request=Request(owner))
                tip = repo.create_branch(branch, baseline or "HEAD", actor=actor.doing("branch.create", ""))
            if holds.held_of(repo, self.project) is None:
                holds.hold(repo, self.project, CommitId(baseline or tip), tip)
            return {"baseline": baseline or tip, "tip": tip}

        return await asyncio.to_thread(begin)

    async def tip(self, branch: str) -> str | None:
        return await asyncio.to_thread(lambda: self._standing(branch).refs.tip(branch))

    async def run_tests(
        self, branch: str, *, since: str | None = None, known: TestResults | None = None
    ) -> TestResults:
        repo = await asyncio.to_thread(self._repo_to_work_in)
        await asyncio.to_thread(self._standing, branch)
        plain, command = self.agent == self.shop.unconfined, self.set_test_command
        found = await asyncio.to_thread(
            run_tests,
            repo,
            branch,
            plain=plain,
            command=command,
            since=since,
            known=known,
            environments=self.shop.environments,
        )
        return found if found is known else replace(found, details=self.shop.redactor.text(found.details))

    async def test_command(self, branch: str) -> str:
        def look() -> str:
            repo = self._standing(branch)
            found = command_of(repo, repo.commit_vfs(branch), project=self.set_test_command)
            return str(found) if found.suites else ""

        return await asyncio.to_thread(look)

    async def changes(self, branch: str, baseline: str | None) -> Json:
        return await asyncio.to_thread(lambda: reviewed_changes(self._standing(branch), branch, baseline))

    async def repository(self) -> Json:
        if self.code is None or not self.code.exists():
            return {}
        facts = await asyncio.to_thread(self._facts)
        return {**facts, "environment": await self.environment()}

    def _facts(self) -> Json:
        repo = self._repo()
        command = self.set_test_command or repository_command(repo)
        return repository_facts(repo, self.baseline or "HEAD", self.shop.redactor.text, command=command)

    async def environment(self) -> str:
        if not self._installed:
            plain = self.agent == self.shop.unconfined
            self._installed.append(await asyncio.to_thread(installed, plain=plain))
        return self._installed[0]

    async def changed_files(self, branch: str, baseline: str | None) -> Mapping[str, str]:
        return await asyncio.to_thread(lambda: changed_texts(self._standing(branch), branch, baseline))


def agents_of(shop: Workshop, project: Project) -> ProjectAgents:
    """Who works for a project, as it is set now."""
    info = project.info()
    code = Path(info.repository) if info.repository else None
    seconds = shop.settings.agents.call_timeout_seconds
    return ProjectAgents(
        shop,
        info.agent,
        code,
        project.id,
        timeout=seconds,
        set_test_command=info.test_command,
        resources=project.directory / "resources",
        baseline=info.baseline,
    )
