"""The real agent programs work through `forge mcp`, installed as a person installs it, with a scripted model.

They run where they are installed. With FORGE_TEST_AGENTS=1 one that is missing is a failure instead of a skip.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from forge.app.access.identity import LOCAL, share
from tests.conftest import Git, MakeRepo
from tests.mcp.doc_blocks import ADDRESS, blocks
from tests.support.api_server import opened
from tests.support.stand_in import StandIn
from tests.support.tool_model import DONE, DRAFT, Script, Step, speak

pytestmark = [pytest.mark.asyncio, pytest.mark.req("C-10"), pytest.mark.slow]
TEST = "import unittest\nfrom app import total\n\n\nclass T(unittest.TestCase):\n    def test_total(self):\n"
FILES = {
    "src/app.py": "def total(a, b):\n    return a - b\n",
    "src/test_app.py": TEST + "        self.assertEqual(total(1, 2), 3)\n",
}
STEPS = [
    Step("forge_get_contract", {"name": "blueprint"}),
    Step("forge_edit", {"at": "agent/fix", "path": "src/app.py", "search": "a - b", "replace": "a + b"}),
    Step("forge_run", {"at": DRAFT}),
    Step("forge_commit", {"draft": DRAFT, "message": "app: add, do not subtract"}),
]
ASK = "Read the blueprint, mend total() on the branch agent/fix, run the tests and commit, all with Forge's tools."
CODEX_PROVIDER = 'model_providers.here={name="here",base_url="{url}/v1",env_key="OPENAI_API_KEY",wire_api="responses"}'


@dataclass(frozen=True, slots=True)
class Program:
    """How a person lets a program work alone, and how it finds the model at `{url}`."""

    command: tuple[str, ...]
    env: dict[str, str]
    files: dict[str, str]
    named: str
    """How the commit names it."""


PROGRAMS = {
    "claude": Program(
        ("claude", "--print", "--allowedTools", "mcp__forge", "--model", "claude-sonnet-5", ASK),
        {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "{url}", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
        {},
        "claude-code",
    ),
    "codex": Program(
        (
            "codex", "exec", "--skip-git-repo-check", "--color", "never", "--dangerously-bypass-approvals-and-sandbox",
            "-c", 'model_provider="here"', "-c", CODEX_PROVIDER, "--model", "gpt-5.5", ASK,
        ),
        {"OPENAI_API_KEY": "k"},
        {},
        "codex",
    ),
    "gemini": Program(
        ("gemini", "--skip-trust", "--approval-mode", "yolo", "--model", "gemini-3-pro", "--prompt", ASK),
        {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": "{url}", "GEMINI_TELEMETRY_ENABLED": "false"},
        {".gemini/settings.json": '{\n  // mine\n  "security": {"auth": {"selectedType": "gemini-api-key"}}\n}\n'},
        "gemini",
    ),
    "opencode": Program(
        ("opencode", "run", "--model", "anthropic/claude-sonnet-4-5", ASK),
        {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"},
        {
            "config/opencode/opencode.json": '{"autoupdate": false, "permission": {"*": "allow"}, "provider": '
            '{"anthropic": {"options": {"baseURL": "{url}/v1", "apiKey": "k"}}}}'
        },
        "opencode",
    ),
}  # fmt: skip


def installed(name: str) -> None:
    if shutil.which(name) is None:
        if os.environ.get("FORGE_TEST_AGENTS") == "1":
            pytest.fail(f"{name} is not installed")
        pytest.skip(f"{name} is not installed. Set FORGE_TEST_AGENTS=1 to make this a failure.")


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a program works, with the model that it is to use."""

    name: str
    directory: Path
    home: Path
    model: StandIn

    @property
    def program(self) -> Program:
        return PROGRAMS[self.name]

    def prepare(self) -> None:
        for path, text in self.program.files.items():
            (self.home / path).parent.mkdir(parents=True, exist_ok=True)
            (self.home / path).write_text(text.replace("{url}", self.model.url))

    async def work(self, **env: str) -> None:
        said = await self.run([each.replace("{url}", self.model.url) for each in self.program.command], **env)
        assert DONE in said

    async def shell(self, block: str, **more: str) -> None:
        """As a reader runs it, with Forge on the PATH."""
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        await self.run(["sh", "-eu", "-c", block], PATH=path, **more)

    async def run(self, command: list[str], **more: str) -> str:
        own = {name: value.replace("{url}", self.model.url) for name, value in self.program.env.items()}
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=self.directory,
            env={**os.environ, **own, **more, "PWD": str(self.directory)},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            said, _ = await asyncio.wait_for(process.communicate(), 240)
        except TimeoutError:
            process.kill()
            said, _ = await process.communicate()
        assert process.returncode == 0, said.decode("utf-8", "replace")
        return said.decode("utf-8", "replace")


def checked(script: Script, repo: Path, git: Git, named: str, asked_by: str) -> None:
    contract, edit, run, commit = script.results
    assert "TaskFlow" in contract
    assert "draft~" in edit
    assert "passed" in run
    assert "agent/fix" in commit
    assert git(repo, "show", "agent/fix:src/app.py").endswith("a + b")
    assert git(repo, "rev-list", "--count", "main..agent/fix") == "1"
    author, _, person = git(
        repo, "log", "-1", "--format=%an|%(trailers:key=Forge-Asked-By,valueonly)", "agent/fix"
    ).partition("|")
    assert named in author
    assert asked_by in person
    assert git(repo, "status", "--porcelain") == ""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", PROGRAMS)
async def test_a_program_reads_a_contract_edits_tests_and_commits(
    make_repo: MakeRepo, git: Git, home: Path, name: str
) -> None:
    installed(name)
    repo, script = make_repo(FILES), Script(STEPS)
    async with StandIn(speak, script.reply) as model:
        desk = Desk(name, repo, home, model)
        desk.prepare()
        await desk.shell(blocks()[name][0])
        await desk.work()
    checked(script, repo, git, desk.program.named, "Ada")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", PROGRAMS)
async def test_a_program_works_with_a_key_at_a_server(tmp_path: Path, git: Git, home: Path, name: str) -> None:
    installed(name)
    script, place = Script(STEPS), tmp_path / "elsewhere"
    place.mkdir()
    with opened(tmp_path) as house:
        key, id_ = house.user("bob"), house.repository(FILES)
        share(house.shop, LOCAL, "repository", id_, "bob", right="write")
        mcp = f"{house.url}/mcp?repo={id_}"
        async with StandIn(speak, script.reply) as model:
            desk = Desk(name, place, home, model)
            desk.prepare()
            block = blocks()[name][1].replace(ADDRESS, mcp)
            if name == "opencode":
                file = home / "config/opencode/opencode.json"
                file.write_text(json.dumps({**json.loads(file.read_text()), **json.loads(block)}))
            else:
                await desk.shell(block, FORGE_KEY=key)
            await desk.work(FORGE_KEY=key)
        checked(script, house.place / "repository-1", git, desk.program.named, "bob")
