"""What a deliverable type works with: every action allowed by its safety rules first, then done once and recorded."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from forge.git import Repository
from forge.pipeline.answerer import Objection, Order
from forge.pipeline.evidence import known_failures
from forge.pipeline.material import gathered
from forge.pipeline.memory_notes import remember_delegation
from forge.pipeline.suite_record import baseline_of, line_of
from forge.pipeline.system_prompt import system_prompt
from forge.plugins.errors import OperationBlocked
from forge.plugins.roles import DeliverableType, Operation, TestResults, Worked
from forge.projects.info import FILE as INFO
from forge.projects.info import ProjectInfo
from forge.tools.suites.outcome import named_few

if TYPE_CHECKING:
    from forge.json_value import Json
    from forge.pipeline.draft import Draft
    from forge.pipeline.journey import Journey

TEST_RUNS = "test_runs.jsonl"
INTENT, SPEC, CONSTRAINTS = "docs/intent.md", "docs/spec.md", "docs/constraints.md"
_BEFORE = "tests before the work"
_DETAILS = 12_000
_DOCUMENTS = frozenset({".md", ".txt", ".rst"})
_STATES = frozenset({".json", ".jsonl", ".yaml", ".yml"})


class ProjectDesk:
    """Implements `forge.plugins.roles.Desk` for one run."""

    def __init__(self, journey: Journey, type_: DeliverableType, *, branch: str | None, baseline: str | None) -> None:
        self._journey = journey
        self._type = type_
        self.branch = branch
        self.baseline = baseline
        self.answers: tuple[Json, ...] = ()
        """What people decided when the build was stuck."""
        self.complaint = ""
        """What was wrong with the last answer, for the next one."""
        self._last_answers: dict[str, str] = {}
        """By prompt."""
        self.name = ""
        """The project's, as it was at the last refresh."""
        self.has_changed = False
        """Whether a turn changed a file since this was last set to False."""
        self.baseline_tests: TestResults | None = None
        self.is_unproven = False
        self.compares = False
        """Whether this run compares tests with those before the work; one that an older version began does not."""
        self._last_tests: TestResults | None = None
        self._tests_before: dict[str, TestResults | None] = {}
        self._commit = ""
        self._written: dict[str, str] = {}
        self._reads = 0
        self._works = 0
        self._tests = 0
        self._baselines = 0

    @property
    def project(self) -> Path:
        return self._journey.project.directory

    @property
    def intent(self) -> str:
        return self.read(INTENT) or ""

    @property
    def spec(self) -> str:
        return self.read(SPEC) or ""

    @property
    def constraints(self) -> str:
        return self.read(CONSTRAINTS) or ""

    @property
    def thresholds(self) -> Mapping[str, Any]:
        chosen = self._journey.around.parameters
        return {
            "plan_min_chars": chosen.plan_min_chars,
            "code_require_tests": chosen.code_require_tests,
            "registries": chosen.registries,
        }

    async def refresh(self) -> None:
        """Take in what people changed by hand; from here on, documents are as they are now."""
        self._reads += 1

        async def look() -> str:
            return await asyncio.to_thread(self._head)

        self._commit = await self._journey.steps.step(f"read documents {self._reads}", look)
        self.name = await asyncio.to_thread(lambda: self._journey.project.name)
        self._written.clear()
        self.is_unproven = bool(self.info.tests_unproven)
        self.baseline_tests = baseline_of(self.test_lines)

    @property
    def info(self) -> ProjectInfo:
        """The project's own notes, as they were at the last refresh."""
        return ProjectInfo.from_json(self.read(INFO) or "")

    @property
    def test_lines(self) -> list[Json]:
        """The recorded runs of tests, as they were at the last refresh."""
        return _lines(self.read(TEST_RUNS))

    def _head(self) -> str:
        records = self._journey.project.records
        taken = records.take_in()
        for sentence in taken.recovered:
            self._journey.project.log.write("warn", "error", str(self._journey.phase), sentence)
        return Repository.open(self.project).resolve("HEAD")

    def read(self, path: str) -> str | None:
        """As it was at the last refresh, with what was written since: the same again after a crash."""
        if path in self._written:
            return self._written[path]
        files = Repository.open(self.project).commit_vfs(self._commit)
        return files.read_file(path) if files.file_exists(path) else None

    def check(self, operation: Operation) -> None:
        verdict = self._type.safety.validate(operation)
        if not verdict.allowed:
            raise OperationBlocked(
                f"A {self._type.name} run may not do {operation}: {verdict.reason}",
                hint="Nothing was done. This is a rule of the deliverable type, not of a prompt.",
            )

    async def ask(
        self,
        prompt: str,
        material: Mapping[str, Any],
        *,
        gather: Collection[str] = (),
        schema: type[BaseModel] | None = None,
        complaint: str = "",
    ) -> str:
        self.check(Operation.AGENT_INVOKE)
        journey, branch, baseline = self._journey, self.branch, self.baseline
        problem, last = complaint or self.complaint, self._last_answers.get(prompt)
        answer = await journey.ask(
            prompt,
            material,
            gather=lambda: gathered(journey, gather, branch=branch, baseline=baseline),
            schema=schema,
            objection=Objection(last, problem) if problem and last is not None else None,
        )
        self._last_answers[prompt] = answer
        return answer

    async def write(self, path: str, text: str, *, message: str) -> None:
        self.check(operation_of(path))
        self.check(Operation.GIT_COMMIT)
        await self._journey.change(lambda draft: draft.write(path, text), message)
        self._written[path] = text

    async def write_all(self, files: Mapping[str, str], *, message: str) -> None:
        """Several files as one commit."""
        for path in files:
            self.check(operation_of(path))
        self.check(Operation.GIT_COMMIT)

        def put(draft: Draft) -> None:
            for path, text in files.items():
                draft.write(path, text)

        await self._journey.change(put, message)
        self._written.update(files)

    async def work(
        self,
        prompt: str,
        task: str,
        message: str,
        *,
        beside: Collection[str] = (),
        documents: Collection[str] = (),
        title: str = "",
    ) -> Worked:
        # An agent on a branch can write source and run commands, so all of that must be allowed.
        for operation in (
            Operation.AGENT_INVOKE,
            Operation.FILE_CREATE_SOURCE,
            Operation.SHELL_EXEC,
            Operation.GIT_COMMIT,
        ):
            self.check(operation)
        self._works += 1
        journey = self._journey
        who = journey.around.agents.who(prompt)
        journey.progress(f"{who} works on {task}")
        assert self.branch is not None
        # In a fixed order, so that two orders with the same files begin alike.
        texts = [journey.around.instructions(name) for name in sorted({prompt, *beside})]
        named = {PurePosixPath(path).stem: self.read(path) or "" for path in documents}
        order = Order(self.branch, prompt, system_prompt(texts, named), message, title or task, journey.tell_trouble)
        worked = await journey.around.agents.work(journey.steps, f"work {self._works}", order)
        self.has_changed = self.has_changed or bool(worked.files)
        if worked.success and not worked.files:
            # The branch has no commit of it, so this is where its words are kept.
            journey.progress(f"{who} on {task} changed no file: {worked.text}", event="agent_response")
        outcome = "done" if worked.success else f"failed: {worked.reason}"
        line = f"{who} on {task}: {outcome}"
        await journey.change(lambda draft: remember_delegation(draft, line), f"build: {task}")
        return worked

    async def run_tests(self) -> TestResults:
        self._tests += 1
        return await self._tested(f"tests {self._tests}", "tests")

    async def run_baseline(self) -> TestResults:
        """Before the first task: whatever fails now is not the work's. A person is told the command first."""
        self._baselines += 1
        again = f" {self._baselines}" if self._baselines > 1 else ""
        await self._tell_command(again)
        self.baseline_tests = await self._tested(f"tests before the work{again}", _BEFORE, baseline=True)
        return self.baseline_tests

    async def _tell_command(self, again: str) -> None:
        """Before the command is used."""

        async def look() -> str:
            assert self.branch is not None
            return await self._journey.around.agents.test_command(self.branch)

        command = await self._journey.steps.step(f"test command{again}", look)
        if command:
            await self.say(f"Tests: {command}.")

    def tests_before(self, task: str) -> TestResults | None:
        """The same for all attempts of this run. A run that begins in the middle knows only the one before the work."""
        if not self.compares:
            return None
        return self._tests_before.setdefault(task, self._last_tests or self.baseline_tests)

    def forget_tests(self) -> None:
        """A person may have changed what tests need: the next run is a new one."""
        self._last_tests = None

    async def _tested(self, step: str, title: str, *, baseline: bool = False) -> TestResults:
        self.check(Operation.TEST_EXEC)
        assert self.branch is not None
        branch, known = self.branch, self._last_tests

        async def test() -> Json:
            results = await self._journey.around.agents.run_tests(branch, since=self.baseline, known=known)
            return {**asdict(results), "details": results.details[-_DETAILS:], "reused": results is known}

        told: Json = await self._journey.steps.step(step, test)
        results = TestResults.from_json(told)
        before = results if baseline else self.baseline_tests
        results = replace(results, known=known_failures(results.failures, before))
        self._last_tests = results
        said = f"{title}: {figures_of(results)}"
        self._journey.progress(said, event="test_run")
        if told.get("reused"):
            return results

        def note(draft: Draft) -> None:
            text = draft.read(TEST_RUNS) or ""
            line = line_of(results, _lines(text), baseline=baseline, now=draft.now)
            draft.write(TEST_RUNS, text + json.dumps(line) + "\n")

        await self._journey.change(note, said)
        return results

    async def tip(self) -> str | None:
        self._reads += 1
        branch = self.branch
        if branch is None:
            return None

        async def look() -> str | None:
            return await self._journey.around.agents.tip(branch)

        tip: str | None = await self._journey.steps.step(f"tip {self._reads}", look)
        return tip

    async def files(self) -> Mapping[str, str]:
        if self.branch is None:
            return {}
        self._reads += 1
        branch = self.branch

        async def look() -> Json:
            return dict(await self._journey.around.agents.changed_files(branch, self.baseline))

        files: Json = await self._journey.steps.step(f"files {self._reads}", look)
        return files

    async def say(self, text: str) -> None:
        await self._journey.say(text)

    async def progress(self, text: str) -> None:
        self._journey.progress(text)


def figures_of(results: TestResults) -> str:
    """In a few words."""
    if results.cannot_run:
        return f"cannot run: {results.missing}"
    skipped = f", {results.skipped} skipped" if results.skipped else ""
    flaky = f", {len(results.flaky)} flaky: {named_few(results.flaky)}" if results.flaky else ""
    return f"{results.passed} of {results.total} pass{skipped}{flaky}"


def _lines(text: str | None) -> list[Json]:
    return [json.loads(line) for line in (text or "").splitlines() if line.strip()]


def operation_of(path: str) -> Operation:
    """What writing a file counts as."""
    ending = PurePosixPath(path).suffix.lower()
    if ending in _DOCUMENTS:
        return Operation.FILE_CREATE_DOC
    return Operation.FILE_CREATE_STATE if ending in _STATES else Operation.FILE_CREATE_SOURCE
