"""A desk in memory: answers, turns and test runs go by a script, and everything that was asked for is kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from forge.plugins.roles import TestResults, Worked

Json = dict[str, Any]
DONE = Worked(success=True, text="Built it.", commit="c0ffee", files=("app.py",))
GREEN = TestResults(3, 3, 0, "3 passed", exit_code=0, command="python3 -m pytest -q")
NO_TESTS = TestResults(0, 0, 0, "No tests were found.", exit_code=1)


def red(details: str, *, failed: int = 1, total: int = 3) -> TestResults:
    return TestResults(total, total - failed, failed, details, exit_code=1, command="python3 -m pytest -q")


@dataclass
class ScriptedDesk:
    """Implements `Desk`. Each script goes on with its last entry; an answer that is an error is raised."""

    intent: str = ""
    spec: str = ""
    constraints: str = ""
    name: str = "Sample"
    project: Path = Path("/project")
    answers: tuple[Json, ...] = ()
    thresholds: Mapping[str, Any] = field(default_factory=lambda: {"plan_min_chars": 100, "code_require_tests": True})
    said: Sequence[str | Exception] = ()
    turns: Sequence[Worked] = (DONE,)
    tests: Sequence[TestResults] = (GREEN,)
    changed: Mapping[str, str] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, Json]] = field(default_factory=list)
    worked: list[tuple[str, str, str]] = field(default_factory=list)
    """Prompt, task and message of each turn."""
    gathered: list[tuple[str, ...]] = field(default_factory=list)
    """What Forge was to add to each question."""
    told_beside: list[tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)
    """Prompts and documents in the system prompt of each turn."""
    tested: int = 0
    told: list[str] = field(default_factory=list)
    baseline_tests: TestResults | None = None
    is_unproven: bool = False

    def __post_init__(self) -> None:
        self._said, self._turns, self._tests = _script(self.said), _script(self.turns), _script(self.tests)

    async def ask(
        self,
        prompt: str,
        material: Mapping[str, Any],
        *,
        gather: Collection[str] = (),
        schema: type[BaseModel] | None = None,
        complaint: str = "",
    ) -> str:
        told = {"complaint": complaint} if complaint else {}
        self.asked.append((prompt, {**material, **told}))
        self.gathered.append(tuple(gather))
        answer = next(self._said)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def read(self, path: str) -> str | None:
        return self.documents.get(path)

    async def write(self, path: str, text: str, *, message: str) -> None:
        await self.write_all({path: text}, message=message)

    async def write_all(self, files: Mapping[str, str], *, message: str) -> None:
        self.documents.update(files)

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
        self.worked.append((prompt, task, message))
        self.told_beside.append((tuple(beside), tuple(documents)))
        return next(self._turns)

    async def run_tests(self) -> TestResults:
        self.tested += 1
        return next(self._tests)

    def tests_before(self, task: str) -> TestResults | None:
        return self.baseline_tests

    async def files(self) -> Mapping[str, str]:
        return self.changed

    async def say(self, text: str) -> None:
        self.told.append(text)

    async def progress(self, text: str) -> None:
        self.told.append(text)


def _script(entries: Sequence[Any]) -> Iterator[Any]:
    return chain(entries, repeat(entries[-1])) if entries else iter(())
