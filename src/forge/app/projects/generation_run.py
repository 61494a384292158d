"""The durable run `generate`: one conversation for each contract, saved one after the other."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from forge.agents.limit_check import Spent
from forge.agents.loop import Loop
from forge.agents.model import Model
from forge.agents.models import registry
from forge.agents.models.names import BUILTIN, RECORDED
from forge.agents.profile import Profile
from forge.agents.recorded import RecordedModel
from forge.app.process.workshop import Workshop, journal_of
from forge.app.projects.contract_risks import risks_of
from forge.app.projects.run_needs import generation_lacks, generation_needs
from forge.app.projects.user_notes import with_user_notes
from forge.builtin_rules.contract_author import ContractRules
from forge.context.overview import tokens_of
from forge.contracts import author, documents, pins
from forge.contracts.author import ROLE, Authored, Fetched, Work
from forge.contracts.contract_set import etag_of, text_of
from forge.contracts.errors import ContractChanged
from forge.contracts.kinds import ORDER, Kind
from forge.contracts.material import Material
from forge.engine.errors import RunCancelled
from forge.engine.run import Reply, Run
from forge.errors import ForgeError
from forge.events import (
    ContractAwaited,
    ContractProgress,
    ContractSaved,
    Event,
    ModelAnswered,
    ModelRetryScheduled,
    ToolEnded,
    ToolStarted,
)
from forge.git import ObjectId
from forge.json_value import Json
from forge.projects.project import Project
from forge.sessions.messages import AssistantMessage, Usage
from forge.store.contract_reads import ContractRead, ContractReads
from forge.store.costs import day_of
from forge.tools.access import ToolAccess
from forge.tools.toolbox import Toolbox

WORKFLOW = "generate"
SIGN_OF_LIFE = 5.0


@dataclass(frozen=True, slots=True)
class Plan:
    """Arguments of the run: it continues by them after a crash, in whichever process."""

    directory: str
    kinds: tuple[str, ...]
    model: str
    profile: Json
    edited: str = "refuse"
    """What becomes of contracts that a person wrote: `refuse`, `keep` or `overwrite`."""
    mini: bool = False
    begun: str = ""
    """Of whoever began it."""

    @classmethod
    def from_json(cls, arguments: Json) -> Self:
        return cls(**{**arguments, "kinds": tuple(arguments["kinds"])})


def register(shop: Workshop) -> None:
    lacks = partial(generation_lacks, shop)
    shop.engine.register(WORKFLOW, partial(_generate, shop), lacks=lacks, needs=generation_needs)


async def _generate(shop: Workshop, run: Run, arguments: Json) -> Json:
    plan = Plan.from_json(arguments)
    project = await asyncio.to_thread(Project.at, Path(plan.directory))

    async def take() -> Json:
        return await asyncio.to_thread(lambda: _material(shop, project).to_json())

    try:
        material = Material.from_json(await run.step("material", take))
        done = []
        for number, name in enumerate(plan.kinds, 1):
            one = _One(_Job(shop, project, run, plan, material), Kind(name), number)
            done.append(await one.write())
    finally:
        if run.is_cancelled:
            await asyncio.to_thread(journal_of(shop).forget, run.id)
    # Not a step: done again after a crash, it does nothing.
    await asyncio.to_thread(journal_of(shop).forget, run.id)
    return {"contracts": done}


def _material(shop: Workshop, project: Project) -> Material:
    notes = with_user_notes(shop, project.id, "").strip()
    found = Material.of(project, notes=notes, risks=risks_of(project))
    redact = shop.redactor.text
    clean = {name: redact(text) for name, text in found.documents.items()}
    answers = {name: redact(text) for name, text in found.answers.items()}
    risks = tuple(map(redact, found.risks))
    return replace(found, documents=clean, answers=answers, notes=redact(notes), risks=risks)


@dataclass(slots=True)
class _Told:
    """Steps of one contract, with the events of its loop told as progress of the contract."""

    run: Run
    scope: str
    started: ContractProgress
    usage: Usage = field(default_factory=Usage)
    turns: int = 0
    about: str = ""
    inner: Any = None

    def __post_init__(self) -> None:
        self.inner = self.run.scoped(self.scope)

    @property
    def id(self) -> str:
        return self.run.id

    def scoped(self, name: str) -> Any:
        return self.inner.scoped(name)

    async def step(self, name: str, function: Callable[[], Awaitable[Any]]) -> Any:
        return await self.inner.step(name, function)

    async def ask(self, text: str, options: Sequence[str] = ()) -> Reply:
        reply: Reply = await self.inner.ask(text, options)
        return reply

    def emit(self, event: Event) -> None:
        match event:
            case ModelAnswered() as said:
                self.turns = said.answer
                self.usage += Usage(said.input_tokens, said.output_tokens, requests=1, cost=said.cost)
                self.tell("answered", ", ".join(said.calls))
            case ToolStarted(about=about):
                self.about = about
            case ToolEnded(name=name, failed=failed):
                self.tell("refused" if failed else "fetched", f"{name} {self.about}".strip())
            case ModelRetryScheduled():
                self.run.emit(replace(event, turn="", project=self.started.project))

    def tell(self, state: str, about: str = "") -> None:
        used = self.usage
        now = replace(self.started, input_tokens=used.input_tokens, output_tokens=used.output_tokens, cost=used.cost)
        self.run.emit(replace(now, state=state, about=about, turns=self.turns))


@dataclass(frozen=True, slots=True)
class _Job:
    """What all contracts of a run have in common."""

    shop: Workshop
    project: Project
    run: Run
    plan: Plan
    material: Material


class _One:
    """One contract of the run."""

    def __init__(self, job: _Job, kind: Kind, number: int) -> None:
        self._shop, self._project, self._run, self._plan = job.shop, job.project, job.run, job.plan
        self._material = job.material
        self._kind = kind
        began = ContractProgress(job.project.id, job.run.id, kind.value, number, len(job.plan.kinds), "started")
        self._told = _Told(job.run, f"contract/{kind.value}", began)
        self._reads = 0

    async def write(self) -> Json:
        told = self._told
        told.tell("started")
        try:
            opened = await told.step("open", self._open)
            if opened["edited"] and self._plan.edited != "overwrite":
                told.tell("kept", "A person wrote it.")
                return self._outcome("kept", note="A person wrote it.")
            async with self._alive():
                written = await author.write(*await self._work(opened), told, turns=self._turns())
            saved = await told.step("save", partial(self._save, written, opened))
        except RunCancelled:
            told.tell("cancelled")
            raise
        except ForgeError as e:
            told.tell("failed", f"{e.message} {e.hint}".strip())
            raise
        if saved["kept"]:
            told.tell("kept", "A person saved it meanwhile.")
            return self._outcome("kept", note="A person saved it meanwhile.")
        state = "draft" if written.draft else "saved"
        self._run.emit(
            ContractSaved(self._project.id, self._kind.value, saved["version"], saved["commit"], "generated")
        )
        told.tell(state, written.note)
        return self._outcome(state, written=written, note=written.note)

    async def _open(self) -> Json:
        """Fixes what is read and what is written over, so that a replay and a person's edit cannot differ."""

        def look() -> Json:
            found = pins.current(self._project)
            text, newest = found.text(self._kind), found.history.newest(self._kind)
            is_edited = text is not None and newest is not None and newest.origin == "person"
            blobs = {kind.value: str(blob) for kind, blob in found.history.blobs.items()}
            return {"etag": "" if text is None else etag_of(text), "edited": is_edited, "blobs": blobs}

        return await asyncio.to_thread(look)

    async def _work(self, opened: Json) -> tuple[Loop, Work]:
        prior = await asyncio.to_thread(self._prior, opened["blobs"])
        work = Work(self._kind, self._material, prior, mini=self._plan.mini, fetched=self._fetched)
        profile = Profile.from_json(self._plan.profile)
        return (
            Loop(
                profile=profile,
                model=_model(self._shop, self._plan.model, work),
                toolbox=Toolbox((), ToolAccess(), files=False),
                journal=journal_of(self._shop),
                paid=self._paid,
                redactor=self._shop.redactor,
                limits=self._shop.settings.limits,
                spent=self._spent,
            ),
            work,
        )

    def _prior(self, blobs: Mapping[str, str]) -> dict[Kind, str]:
        """By their ids: a person may edit one of them while this contract is written."""
        repository = self._project.records.repository
        before = ORDER[: ORDER.index(self._kind)]
        return {kind: text_of(repository, ObjectId(blobs[kind])) for kind in before if kind in blobs}

    async def _save(self, written: Authored, opened: Json) -> Json:
        def save() -> Json:
            blobs = {kind: opened["blobs"][kind] for kind in written.reads}
            how = documents.Written(self._run.id, f"{self._run.id}/{self._kind.value}", blobs, draft=written.draft)
            text = self._shop.redactor.text(written.text)
            try:
                saved = documents.save_written(self._project, self._kind, text, how, expected=opened["etag"])
            except ContractChanged:
                return {"kept": True}
            return {"kept": False, "version": saved.version, "commit": str(saved.commit)}

        return await asyncio.to_thread(save)

    def _outcome(self, state: str, *, written: Authored | None = None, note: str = "") -> Json:
        usage = written.usage if written is not None else Usage()
        findings = list(written.findings) if written is not None else []
        return {"contract": self._kind.value, "state": state, "note": note, "findings": findings, **asdict(usage)}

    def _turns(self) -> int:
        chosen = self._shop.settings.contracts
        return chosen.turns.get(self._kind.value, chosen.max_turns)

    def _fetched(self, fetched: Fetched) -> None:
        self._reads += 1
        read = ContractRead(
            self._run.id,
            f"contract/{self._kind.value}/read {self._reads}",
            self._project.id,
            ROLE,
            fetched.kind.value,
            tokens_of(fetched.text),
            time.time(),
            part=fetched.part,
        )
        ContractReads(self._shop.database).record(read)

    def _spent(self, taken: Usage) -> Spent:
        costs = self._shop.costs
        today, project = costs.total(day=day_of(time.time())), costs.total(session=self._project.id)
        return Spent(taken.cost or 0.0, project.cost or 0.0, today.cost or 0.0, taken.requests)

    def _paid(self, step: str, answer: AssistantMessage) -> None:
        self._shop.costs.record(
            self._run.id,
            step,
            repository=str(self._project.directory),
            branch="",
            model=answer.model or self._plan.model,
            usage=answer.usage,
            time=time.time(),
            session=self._project.id,
        )

    @asynccontextmanager
    async def _alive(self) -> AsyncIterator[None]:
        """Whoever watches hears at least every ten seconds that the run still waits for its model."""
        began = time.monotonic()

        async def beat() -> None:
            while True:
                await asyncio.sleep(SIGN_OF_LIFE)
                waited = round(time.monotonic() - began, 1)
                awaited = ContractAwaited(self._project.id, self._run.id, self._kind.value, waited)
                self._shop.events.publish(self._project.subject.topic, awaited)

        beating = asyncio.create_task(beat())
        try:
            yield
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)


def _model(shop: Workshop, name: str, work: Work) -> Model:
    if name == BUILTIN:
        return ContractRules(work)
    limits = shop.settings.limits.model_copy(update={"output_tokens": shop.settings.contracts.output_tokens})
    model = registry.resolve(name, shop.settings.model_copy(update={"limits": limits}))
    if name.startswith(f"{RECORDED}:") and isinstance(model, RecordedModel):
        return model.part(work.kind.value)
    return model
