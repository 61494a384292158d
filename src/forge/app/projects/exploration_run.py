"""The durable run behind a turn of the explorer: open, route, respond, write. Each is done once, whatever dies."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from forge.agents.answer_object import parse_object
from forge.agents.limit_check import Spent
from forge.agents.loop import Cancelled, Failed, Finished, Loop, Submitted, TurnLimit, run_loop
from forge.agents.models import registry
from forge.agents.profile import LoopLimits
from forge.app.admin.agent_programs import programs
from forge.app.admin.profiles import profiles_of
from forge.app.admin.prompts import prompts
from forge.app.process.workshop import Workshop, journal_of
from forge.app.projects.dependencies import around
from forge.app.projects.run_needs import project_lacks, project_needs
from forge.engine.errors import RunCancelled
from forge.engine.run import Run
from forge.explore import digest, rules, turn
from forge.explore.assumption import CERTAINTY, Assumption
from forge.explore.knowledge import RESPOND, ROUTE, Knowledge
from forge.explore.pieces import pieces_of
from forge.explore.route import Decision, Route, decide, parse_route
from forge.explore.toolkit import TOOLS
from forge.explore.turn import ExplorerOutcome, Passage
from forge.explore.workbench import Call, Workbench
from forge.git import CommitId
from forge.json_value import Json
from forge.pipeline import resources
from forge.pipeline.draft import Draft
from forge.pipeline.journey import Journey
from forge.pipeline.memory_notes import remember_confidence
from forge.plugins.errors import AgentFailed, AnswerUnusable
from forge.projects import artifacts, context_file, state
from forge.projects.project import Project
from forge.projects.status import Phase
from forge.sessions.messages import AssistantMessage, Message, Usage, UserMessage
from forge.store.costs import day_of
from forge.store.passages import search_passages
from forge.tools.access import ToolAccess
from forge.tools.tool import ToolRetry
from forge.tools.toolbox import Toolbox

EXPLORE = "explore"
_PASSAGES = 4
_REQUESTS = 12
"""How often the model is asked in one turn at most."""


class ProgramAnswer(BaseModel):
    """What an agent program answers, which cannot call tools while it thinks."""

    model_config = ConfigDict(extra="ignore")
    reply: str = Field(min_length=1, max_length=20_000)
    calls: list[dict[str, Any]] = Field(default_factory=list, max_length=40)


def register(shop: Workshop) -> None:
    shop.engine.register(EXPLORE, partial(_run, shop), lacks=partial(project_lacks, shop), needs=project_needs)


async def _run(shop: Workshop, run: Run, arguments: Json) -> Json:
    project = await asyncio.to_thread(Project.at, Path(arguments["directory"]))
    journey = await asyncio.to_thread(lambda: Journey(project, run, around(shop, project, run.id)))
    try:
        done = await _Turn(shop, project, run, journey).run()
    except RunCancelled:
        done = {"answered": False, "cancelled": True}
    # Not a step: done again after a crash, it does nothing. Before the end, answers that were paid for are in there.
    await asyncio.to_thread(journal_of(shop).forget, run.id)
    return done


@dataclass(slots=True)
class _Turn:
    shop: Workshop
    project: Project
    steps: Run
    journey: Journey

    async def run(self) -> Json:
        opened = await self.steps.step("open", self._open)
        if not opened["commit"]:
            return {"answered": False}
        bench = await asyncio.to_thread(self._bench, opened)
        said = turn.unanswered(bench)
        text = "\n\n".join(said)
        route = await self._route(bench, text)
        prepared = await self.steps.step("prepare", partial(self._prepare, bench, route, text))
        decision = Decision.from_json(prepared["decision"])
        turn.begin(bench, decision)
        shown = tuple(_shown(each) for each in prepared["documents"])
        turn.cite(bench, shown)
        reply, calls, probe = await self._respond(bench, decision, text, prepared)
        outcome = ExplorerOutcome(decision, calls, reply, text, bench.turn, shown, probe)
        done = await self.journey.change(
            partial(_write, outcome=outcome, now=opened["now"], line=self.shop.settings.explore.risk_line),
            f"explore: turn {bench.turn}",
        )
        return {"answered": True, "commit": done["commit"], "mode": decision.mode}

    async def _open(self) -> Json:
        """Fix the state that this turn is about. Nothing to answer, nothing to do."""

        def look() -> Json:
            self.project.records.take_in()
            is_open = self.project.status().phase is Phase.BRAIN_DUMP
            bench = Workbench.of(self.project.state())
            waiting = turn.unanswered(bench) if is_open else ()
            tip = self.project.records.tip() if waiting else None
            return {"commit": tip, "now": time.time()}

        return await asyncio.to_thread(look)

    def _bench(self, opened: Json) -> Workbench:
        files = self.project.records.repository.commit_vfs(CommitId(opened["commit"]))
        saved = state.loaded(files.read_file(state.FILE))
        context = files.read_file(context_file.FILE) if files.file_exists(context_file.FILE) else None
        saved = context_file.with_context(saved, context_file.parse(context))
        return Workbench.of(saved, now=_moment(opened["now"]), line=self.shop.settings.explore.risk_line)

    @property
    def _knowledge(self) -> Knowledge:
        return Knowledge(prompts(self.shop.settings).get)

    async def _route(self, bench: Workbench, text: str) -> Route:
        """The light call. Where it fails, words decide: a person is answered all the same."""
        if self.journey.around.agents.by_rules(ROUTE):
            return rules.routed(bench, text)
        material = await asyncio.to_thread(turn.route_material, bench, self._knowledge, text)
        try:
            return await self.journey.asked(ROUTE, material, parse_route, schema=Route)
        except (AgentFailed, AnswerUnusable) as e:
            self.project.log.write("warn", "agent_response", str(Phase.BRAIN_DUMP), f"{ROUTE}: {e.message}")
            return rules.routed(bench, text)

    async def _prepare(self, bench: Workbench, route: Route, text: str) -> Json:
        """What the rules make of the route, and the words for whoever responds, from the prompts as they are now."""

        def prepared() -> Json:
            knowledge = self._knowledge
            decision = decide(route, bench, knowledge, text)
            passages = self._passages(bench, decision)
            return {
                "decision": decision.to_json(),
                "system": knowledge.system(decision.mode),
                "block": turn.block(bench, decision, knowledge, passages),
                "documents": [{"id": each.id, "place": each.place} for each in passages],
            }

        return await asyncio.to_thread(prepared)

    def _passages(self, bench: Workbench, decision: Decision) -> tuple[Passage, ...]:
        """What the person's files and older turns say about it, if the route wants to know."""
        if not decision.retrieval:
            return ()
        found = resources.read(
            self.project.directory / "resources",
            vision=False,
            max_file_size_mb=self.shop.settings.resource.max_file_size_mb,
        )
        clean = self.shop.redactor.text
        pieces = [piece for each in found.texts for piece in pieces_of(each.path, each.text, each.pages, clean=clean)]
        messages = [each for each in bench.values.get("messages", ()) if isinstance(each, Mapping)]
        pieces += digest.older_turns(messages)
        best = search_passages(pieces, decision.retrieval, most=_PASSAGES, database=self.shop.database)
        return turn.passages_of(bench, best)

    async def _respond(
        self, bench: Workbench, decision: Decision, text: str, prepared: Json
    ) -> tuple[str, tuple[Call, ...], str | None]:
        """The heavy call: what is said, what was changed, and which probe was asked if not the decided one."""
        agents = self.journey.around.agents
        if agents.by_rules(RESPOND):
            return await self._by_rules(bench, decision, text)
        who = agents.who(RESPOND)
        if who in programs(self.shop.settings):
            return *await self._by_program(bench, prepared), None
        return *await self._by_model(who, bench, prepared), None

    async def _by_rules(self, bench: Workbench, decision: Decision, text: str) -> tuple[str, tuple[Call, ...], str]:
        async def respond() -> Json:
            is_first = not any(rules.HONEST in str(each.get("content")) for each in bench.values.get("messages", ()))
            said = partial(rules.respond, bench, decision, self._knowledge, text, first=is_first)
            words, probe = await asyncio.to_thread(said)
            reply = self.shop.redactor.text(words)
            calls = [{"tool": each.tool, "arguments": each.arguments, "made": each.made} for each in bench.calls]
            return {"reply": reply, "calls": calls, "probe": probe}

        done = await self.steps.step("respond", respond)
        return done["reply"], tuple(Call(**each) for each in done["calls"]), done["probe"]

    async def _by_program(self, bench: Workbench, prepared: Json) -> tuple[str, tuple[Call, ...]]:
        tools = [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in TOOLS.values()]
        spoken = [f"{role}: {text}" for role, text in _spoken(bench)]
        material = {
            "instructions": prepared["system"],
            "tools": tools,
            "conversation": "\n\n".join(spoken),
            "turn": prepared["block"],
            "form": 'One JSON object: {"reply": "…", "calls": [{"tool": "…", "arguments": {…}}]}',
        }
        try:
            given = await self.journey.asked(
                RESPOND, material, lambda raw: parse_object(raw, ProgramAnswer), schema=ProgramAnswer
            )
        except (AgentFailed, AnswerUnusable) as e:
            return _unanswered(f"{e.message} {e.hint}"), ()
        for each in given.calls:
            tool, told = TOOLS.get(str(each.get("tool"))), each.get("arguments")
            if tool is None or not isinstance(told, dict):
                continue
            try:
                bench.apply(tool, told)
            except ToolRetry as e:
                self.project.log.write("warn", "agent_response", str(Phase.BRAIN_DUMP), f"{tool.name}: {e}")
        return given.reply, tuple(bench.calls)

    async def _by_model(self, who: str, bench: Workbench, prepared: Json) -> tuple[str, tuple[Call, ...]]:
        model = registry.resolve(who, self.shop.settings)
        access = ToolAccess(frozenset(TOOLS))
        profile = profiles_of(self.shop.settings).get(RESPOND)
        profile = replace(profile, system=prepared["system"], tools=access, limits=LoopLimits(requests=_REQUESTS))
        loop = Loop(
            profile=profile,
            model=model,
            toolbox=Toolbox(bench.function_tools(TOOLS), access, files=False),
            journal=journal_of(self.shop),
            paid=partial(self._paid, who),
            redactor=self.shop.redactor,
            limits=self.shop.settings.limits,
            spent=self._spent,
        )
        messages = _messages(who, bench, self.shop.redactor.text(prepared["block"]), self.shop.redactor.text)
        end = (await run_loop(loop, messages, self.steps.scoped("respond"))).end
        match end:
            case Finished(text=text) if text.strip():
                return text, tuple(bench.calls)
            case Cancelled():
                raise RunCancelled("The turn was cancelled.", hint="Send your message again.")
            case TurnLimit(reason=reason, text=text):
                return (text or _unanswered(reason)), tuple(bench.calls)
            case Failed(reason=reason):
                return _unanswered(reason), tuple(bench.calls)
            case Finished() | Submitted():
                return _unanswered("The model gave an empty answer."), tuple(bench.calls)

    def _spent(self, usage: Usage) -> Spent:
        costs = self.shop.costs
        today, whole = costs.total(day=day_of(time.time())), costs.total(session=self.project.id)
        return Spent(usage.cost or 0.0, whole.cost or 0.0, today.cost or 0.0, usage.requests)

    def _paid(self, who: str, step: str, answer: AssistantMessage) -> None:
        self.shop.costs.record(
            self.steps.id,
            step,
            repository=str(self.project.directory),
            branch="",
            model=answer.model or who,
            usage=answer.usage,
            time=time.time(),
            session=self.project.id,
        )


def _shown(saved: Json | str) -> Passage:
    """As a turn recorded it; an earlier release recorded the id alone."""
    return Passage(saved, "", "") if isinstance(saved, str) else Passage(saved["id"], saved["place"], "")


def _certainty(each: Assumption) -> float:
    return 0.0 if each.status == "invalidated" else CERTAINTY[each.confidence]


def _unanswered(reason: str) -> str:
    return f"I could not answer: {reason.strip()} Your message is kept. Send another one, or continue with Distill."


def _moment(now: float) -> datetime:
    return datetime.fromtimestamp(now, UTC)


def _spoken(bench: Workbench) -> list[tuple[str, str]]:
    messages = [each for each in bench.values.get("messages", ()) if isinstance(each, Mapping)]
    return digest.spoken(messages)[digest.window(messages) :]


def _messages(who: str, bench: Workbench, block: str, redact: Any) -> Sequence[Message]:
    """The conversation, several messages of one side as one, and beside the last what this turn is about.

    It begins with the person: the offer to set the scene before that is no news to a model.
    """
    joined: list[tuple[str, str]] = []
    for role, text in _spoken(bench):
        if role == "assistant" and not joined:
            continue
        if joined and joined[-1][0] == role:
            joined[-1] = (role, f"{joined[-1][1]}\n\n{text}")
        else:
            joined.append((role, text))
    if not joined or joined[-1][0] != "user":
        joined.append(("user", ""))
    joined[-1] = ("user", f"{joined[-1][1]}\n\n{block}".strip())
    return [
        UserMessage(redact(text)) if role == "user" else AssistantMessage(redact(text), model=who)
        for role, text in joined
    ]


def _write(draft: Draft, outcome: ExplorerOutcome, now: float, line: float) -> None:
    """The turn on the state as it is by now, in one commit with its artifacts and the team context."""
    saved = state.loaded(draft.read(state.FILE))
    saved = context_file.with_context(saved, context_file.parse(draft.read(context_file.FILE)))
    bench = Workbench.of(saved, now=_moment(now), line=line)
    bench.turn = outcome.answered
    turn.cite(bench, outcome.documents)
    reply = turn.finish(bench, outcome)
    write_bench(draft, saved, bench)
    if draft.status.phase is Phase.BRAIN_DUMP:
        draft.say(reply.text)


def write_bench(draft: Draft, saved: state.SavedState, bench: Workbench) -> None:
    for kind, text in bench.files.items():
        draft.write(artifacts.path_of(kind), text)
    if bench.context:
        context = replace(context_file.parse(draft.read(context_file.FILE)), **bench.context)
        draft.write(context_file.FILE, context.to_markdown())
    touched = {id_ for change in bench.changes for id_ in change.subjects}
    changed = [each for id_, each in bench.register.assumptions.items() if id_ in touched]
    if changed:
        sure = {f"{each.id} {each.claim}": _certainty(each) for each in changed}
        remember_confidence(draft, sure, bench.changes[-1].by)
    moment = datetime.fromtimestamp(draft.now, UTC)
    draft.write(state.FILE, state.formatted(replace(saved, values=bench.saved()), now=moment))
