"""Real agent programs in a code project: they get the role prompts, and a last line `Stuck: …` asks a person."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forge.app.process.workshop import open_workshop
from forge.app.projects.catalog import create
from forge.app.projects.view import ProjectView
from forge.pipeline.actions import Action
from forge.pipeline.draft import Draft
from forge.projects.project import Project
from forge.projects.status import Phase
from forge.settings import load
from tests.support.code_scenarios import PYTHON, repository_with
from tests.support.program_api import ProgramApi, program_api
from tests.support.project_runs import CODE_CONSTRAINTS, CODE_INTENT, CODE_SPEC, at_phase
from tests.support.scripted_projects import Office, pressed

pytestmark = [pytest.mark.req("P-07", "P-14", "P-16"), pytest.mark.slow]

KEYS = {
    "claude": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "codex": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
    "opencode": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
}
SAID = "I looked at everything.\n\nStuck: Does an empty text count as zero? [zero | an error]"
FILES = {"docs/intent.md": CODE_INTENT, "docs/spec.md": CODE_SPEC, "docs/constraints.md": CODE_CONSTRAINTS}


def ready(project: Project, code: Path) -> None:
    """A project whose specification waits to be confirmed, on the repository at `code`."""
    at_phase(project, Phase.SPEC_BUILDING, FILES, kind="code")

    def place(read: Any) -> Any:
        draft = Draft(read, 1_700_000_000.0)
        draft.info = replace(draft.info, repository=str(code))
        return draft.files()

    project.records.update(place, "repository")


def built(place: Path, name: str, api: ProgramApi) -> ProjectView:
    code = repository_with(place / "code", PYTHON)
    office = Office.at(place / "office")
    key, base = KEYS[name]
    environ = {**office.environ, key: "key-of-the-person", base: api.url}

    async def go() -> ProjectView:
        async with open_workshop(load(environ), environ) as shop:
            project = await create(shop, "Durations", agent=name, repository=code, deliverable_type="code")
            ready(project, code)
            return await pressed(shop, project, Action.CONFIRM)

    return asyncio.run(go())


@pytest.mark.parametrize("name", KEYS)
def test_a_program_is_told_how_to_build_and_to_fix_and_its_last_line_asks_a_person(tmp_path: Path, name: str) -> None:
    if shutil.which(name) is None and os.environ.get("FORGE_TEST_AGENTS") != "1":
        pytest.skip(f"{name} is not installed: script/test --agents installs it.")
    with program_api(said=SAID) as api:
        seen = built(tmp_path, name, api)
    assert (seen.phase, seen.waiting) == ("building", "stuck"), seen.question
    assert seen.stuck is not None
    assert seen.stuck["question"] == "Task `parse` (“Parse”): Does an empty text count as zero?"
    assert (seen.stuck["options"], seen.stuck["explanation"]) == (["zero", "an error"], "I looked at everything.")
    asked = json.dumps([body for _, _, body in api.asked])
    for part in ("You build software on a git branch", "When the order is to mend", "Task `parse`", "criterion_N"):
        assert part in asked
