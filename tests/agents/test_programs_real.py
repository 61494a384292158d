"""The real agent programs, each against a stand-in for its model API that lets it write a file with its own tool.

They run where they are installed. With FORGE_TEST_AGENTS=1 one that is missing is a failure instead of a skip.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forge.agents.errors import ProgramMissing
from forge.agents.programs import KNOWN, InstalledProgram, ProgramRun, configured, find_program, run_program
from forge.git import Repository, WorkInProgressVFS
from forge.sandbox import Limits
from tests.conftest import Git, MakeRepo
from tests.support.program_api import SAID, ProgramApi, program_api

pytestmark = [pytest.mark.asyncio, pytest.mark.req("P-14", "X-06"), pytest.mark.slow]

KEY = "key-of-the-person"
LIMITS = Limits(memory_bytes=3 << 30)
CASES = {
    "claude": ("anthropic:claude-sonnet-5", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "codex": ("openai:gpt-5.5", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "gemini": ("google:gemini-3-pro", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
    "opencode": ("anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
}


def installed(name: str, **options: Any) -> InstalledProgram:
    try:
        return find_program(configured(name, options, KNOWN), os.environ["PATH"])
    except ProgramMissing as e:
        if os.environ.get("FORGE_TEST_AGENTS") == "1":
            raise
        pytest.skip(f"{e.message} Set FORGE_TEST_AGENTS=1 to make this a failure.")


class Desk:
    def __init__(self, repo: Repository, root: Path, api: ProgramApi) -> None:
        self.repo = repo
        self.root = root
        self.api = api
        self.vfs: WorkInProgressVFS = repo.workspace("work")
        self.shown: list[str] = []

    async def run(self, name: str, *, env: dict[str, str] | None = None, **options: Any) -> ProgramRun:
        known_model, key, base = CASES[name]
        return await run_program(
            installed(name, **options),
            "Write made.txt, please.",
            self.vfs,
            self.materialise,
            model=known_model,
            env=env or {key: KEY, base: self.api.url},
            limits=LIMITS,
            timeout=120,
            on_text=self.shown.append,
        )

    @contextmanager
    def materialise(self, view: Any, *, keep_ignored: bool = True) -> Iterator[Any]:
        with self.repo.materialize(view, root=self.root, keep_ignored=keep_ignored) as directory:
            self.api.path = str(directory / "made.txt")
            yield directory


@pytest.fixture
def desk(tmp_path: Path, make_repo: MakeRepo, git: Git) -> Iterator[Desk]:
    directory = make_repo({"README.md": "hello\n", "AGENTS.md": "Be brief.\n"})
    git(directory, "branch", "work")
    with program_api() as api:
        yield Desk(Repository.open(directory), tmp_path / "directories", api)


def keys_seen(api: ProgramApi) -> set[str]:
    names = ("authorization", "x-api-key", "x-goog-api-key")
    return {headers[name].removeprefix("Bearer ") for _, headers, _ in api.asked for name in names if name in headers}


@pytest.mark.parametrize("name", CASES)
async def test_a_program_writes_a_file_without_network_and_without_the_key(desk: Desk, name: str) -> None:
    ended = await desk.run(name)
    assert ended.success, ended.error
    assert ended.attempts == 1, ended.notes
    assert ended.output == SAID
    assert SAID in "".join(desk.shown)
    assert [(change.path, change.change.value) for change in ended.changes] == [("made.txt", "added")]
    assert desk.vfs.read_file("made.txt").strip() == "by the program"
    assert ended.usage.input_tokens >= 200
    assert ended.usage.output_tokens >= 40
    assert ended.version
    assert keys_seen(desk.api) == {KEY}


@pytest.mark.parametrize("name", CASES)
async def test_a_program_runs_commands_of_its_own_where_only_the_sandbox_bounds_it(desk: Desk, name: str) -> None:
    desk.api.command = "printf made > made.txt && cat /proc/net/dev | grep -c : > interfaces.txt"
    ended = await desk.run(name)
    assert ended.success, ended.error
    assert desk.vfs.read_file("made.txt") == "made"
    assert desk.vfs.read_file("interfaces.txt") == "1\n"


async def test_codex_applies_patches(desk: Desk) -> None:
    desk.api.patch = True
    ended = await desk.run("codex")
    assert ended.success, ended.error
    assert desk.vfs.read_file("made.txt") == "by the program\n"


@pytest.mark.parametrize("name", CASES)
async def test_a_program_that_waits_for_its_model_is_cancelled_at_once(desk: Desk, name: str) -> None:
    installed(name)
    desk.api.hang = True
    running = asyncio.create_task(desk.run(name))
    deadline = time.monotonic() + 100
    while not desk.api.asked and time.monotonic() < deadline and not running.done():
        await asyncio.sleep(0.05)
    assert desk.api.asked
    started = time.monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert time.monotonic() - started < 2
    assert desk.vfs.pending_changes() == {}


@pytest.mark.parametrize("name", CASES)
async def test_a_refused_key_is_a_failure_with_the_reason(desk: Desk, name: str) -> None:
    desk.api.deny = 401
    ended = await desk.run(name)
    assert not ended.success
    assert ended.attempts == 2
    assert "that key is not known" in ended.error
    assert KEY not in ended.error
    assert desk.vfs.pending_changes() == {}


@pytest.mark.parametrize("name", CASES)
async def test_with_network_a_program_still_writes_files_and_the_result_says_so(desk: Desk, name: str) -> None:
    ended = await desk.run(name, network=True)
    assert ended.success, ended.error
    assert [change.path for change in ended.changes] == ["made.txt"]
    assert any("ran with network" in note for note in ended.notes)


@pytest.mark.parametrize("name", ["claude", "gemini", "opencode"])
async def test_with_network_a_program_runs_no_commands(desk: Desk, name: str) -> None:
    desk.api.command = "printf made > made.txt"
    hook = {"matcher": "*", "hooks": [{"type": "command", "command": "printf hook > hook.txt"}]}
    hooks = {event: [hook] for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "Stop")}
    desk.vfs.write_file(".claude/settings.json", json.dumps({"hooks": hooks, "permissions": {"allow": ["Bash"]}}))
    desk.vfs.write_file("opencode.json", json.dumps({"permission": {"bash": "allow"}}))
    ended = await desk.run(name, network=True)
    assert ended.changes == ()
    assert set(desk.vfs.pending_changes()) == {".claude/settings.json", "opencode.json"}
    if not ended.success:
        assert "refused" in ended.error


@pytest.mark.parametrize("name", CASES)
async def test_a_program_that_says_nothing_at_all_is_no_success(desk: Desk, name: str) -> None:
    desk.api.silent = True
    ended = await desk.run(name)
    assert not ended.success
    assert ended.attempts == 2
    assert desk.vfs.pending_changes() == {}


async def test_a_subscription_of_claude_works_without_network_too(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    token = KNOWN["claude"].apis[1]
    changed = replace(KNOWN["claude"], apis=(replace(token, upstream=desk.api.url),))
    monkeypatch.setattr("tests.agents.test_programs_real.KNOWN", {"claude": changed})
    ended = await desk.run("claude", env={"CLAUDE_CODE_OAUTH_TOKEN": KEY})
    assert ended.success, ended.error
    assert keys_seen(desk.api) == {KEY}
