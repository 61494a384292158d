"""The built-in engine and a recording at work with the real tools on a real branch."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from forge.agents.builtin import BuiltinEngine
from forge.agents.model import Model, Prompt
from forge.agents.recorded import RecordedModel
from forge.git import Actor, ActorKind, Repository, WorkInProgressVFS
from forge.sandbox import Limits
from forge.sandbox import run as run_confined
from forge.sessions.messages import AssistantMessage, Message, ToolResult, UserMessage
from forge.tools.commands import CommandOutcome
from forge.tools.registry import builtin_tools
from forge.tools.toolbox import Toolbox
from tests.conftest import MakeRepo
from tests.support.toolboxes import open_toolbox

AGENT = Actor(ActorKind.AGENT, "agent")
FILES = {"README.md": "# Demo\n", "src/app.py": "def main():\n    return 'old'\n", "b.txt": "b\n"}


def turn(model: Model, box: Toolbox, vfs: WorkInProgressVFS, text: str) -> tuple[AssistantMessage, list[ToolResult]]:
    """The loop of a turn, without anything around it."""
    messages: list[Message] = [UserMessage(text)]
    while True:
        given = asyncio.run(model.answer(Prompt("", box.schemas(), tuple(messages)), on_text=lambda _: None))
        messages.append(given)
        if not given.calls:
            return given, [m for m in messages if isinstance(m, ToolResult)]
        for call in given.calls:
            done = box.run(vfs, call.name, call.arguments)
            messages.append(ToolResult(call.id, call.name, done.text, done.failed))


def open_branch(make_repo: MakeRepo) -> tuple[Repository, WorkInProgressVFS]:
    repo = Repository.open(make_repo(FILES))
    repo.create_branch("work", actor=AGENT)
    return repo, repo.workspace("work", actor=AGENT)


@pytest.mark.req("X-03")
def test_orders_are_carried_out_by_the_real_tools(make_repo: MakeRepo) -> None:
    _, vfs = open_branch(make_repo)
    text = """\
- create docs/notes.md with "# Notes"
- replace "'old'" with "'new'" in src/app.py
- rename b.txt to c.txt
- show src/app.py lines 1-2
- find return
- list files in src
- check syntax of src/app.py
- add src/app.py to context"""
    given, results = turn(BuiltinEngine(), open_toolbox(builtin_tools(None)), vfs, text)
    assert [result.text for result in results if result.failed] == []
    assert vfs.read_file("docs/notes.md") == "# Notes\n"
    assert "'new'" in vfs.read_file("src/app.py")
    assert vfs.read_file("c.txt") == "b\n"
    assert given.text.splitlines()[-1] == "Commit: Write docs/notes.md and 2 more"


@pytest.mark.req("X-03")
def test_a_wrong_order_is_told_with_the_reason_of_the_tool(make_repo: MakeRepo) -> None:
    _, vfs = open_branch(make_repo)
    given, results = turn(BuiltinEngine(), open_toolbox(builtin_tools(None)), vfs, "delete src/ap.py")
    assert results[0].failed
    assert "src/app.py" in given.text
    assert not vfs.pending


@pytest.mark.req("X-03")
def test_the_recorded_conversation_writes_and_runs_its_files(make_repo: MakeRepo, tmp_path: Path) -> None:
    repo, vfs = open_branch(make_repo)

    def run(vfs: WorkInProgressVFS, command: Sequence[str], *, seconds: float) -> CommandOutcome:
        with repo.materialize(vfs, root=tmp_path / "directories") as directory:
            done = run_confined(command, directory.path, Limits(seconds=seconds))
            changes = directory.collect_changes()
        return CommandOutcome(done.exit_code, done.stdout_text, done.timed_out, done.limited, changes, done.notes)

    given, results = turn(RecordedModel.named("greeting"), open_toolbox(builtin_tools(run)), vfs, "go")
    assert "def greeting" in vfs.read_file("greeting.py")
    assert "unittest" in vfs.read_file("test_greeting.py")
    assert [result.text for result in results if result.failed] == []
    assert "Ran 1 test" in results[-1].text
    assert "Commit: " in given.text
