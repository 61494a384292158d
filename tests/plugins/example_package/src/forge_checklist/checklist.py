"""The deliverable type `checklist`: a Markdown file of boxes to tick."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from forge.plugins.roles import (
    Allowed,
    BuildResult,
    Desk,
    Issue,
    Operation,
    ResultView,
    Severity,
    Structure,
    TestResults,
)

FILE = "docs/checklist.md"


class Finding(BaseModel):
    severity: Severity
    description: str
    location: str
    recommendation: str


class Review(BaseModel):
    issues: list[Finding]


class Rules:
    """A checklist is a document: nothing is run, nothing is installed, no source is written."""

    blocked_operations = frozenset(
        {Operation.SHELL_EXEC, Operation.FILE_CREATE_SOURCE, Operation.PACKAGE_INSTALL, Operation.TEST_EXEC}
    )

    def validate(self, operation: Operation) -> Allowed:
        if operation in self.blocked_operations:
            return Allowed(False, "a checklist is a document")
        return Allowed(True)


@dataclass(frozen=True)
class Checklist:
    name: str = "checklist"
    title: str = "Checklist"
    needs_code: bool = False
    schema: type[BaseModel] = Review
    structures: tuple[Structure, ...] = (Structure("boxes", "Boxes to tick", ("Boxes",)),)
    result_view: ResultView = ResultView("document", FILE)  # noqa: RUF009 - a frozen value

    @property
    def safety(self) -> Rules:
        return Rules()

    @property
    def severities(self) -> Mapping[str, str]:
        return {
            "critical": "an acceptance criterion has no box",
            "medium": "a box cannot be ticked by looking",
            "minor": "a box is hard to read",
        }

    async def discover(self, desk: Desk) -> dict[str, Any]:
        return {}

    async def build(self, desk: Desk) -> BuildResult:
        answer = json.loads(await desk.ask("checklist-build", {"spec": desk.spec, "constraints": desk.constraints}))
        if not answer["items"]:
            return BuildResult(stuck=True, reason="What has to be on the list?")
        text = "\n".join([f"# {desk.name}", "", *(f"- [ ] {item}" for item in answer["items"])]) + "\n"
        await desk.write(FILE, text, message="checklist: written")
        return BuildResult(stuck=False, content=text)

    async def missing(self, desk: Desk) -> str:
        return "" if "- [ ] " in (desk.read(FILE) or "") else f"{FILE} has no boxes."

    async def review(self, desk: Desk, tests: TestResults | None) -> str:
        return await desk.ask("checklist-review", {"checklist": desk.read(FILE), "constraints": desk.constraints})

    async def fix(self, desk: Desk, issues: Sequence[Issue], tests: TestResults | None) -> str:
        text = (desk.read(FILE) or "") + "".join(f"- [ ] {issue.recommendation}\n" for issue in issues)
        await desk.write(FILE, text, message="checklist: mended")
        return f"{len(issues)} boxes more."
