"""A branch with a few files, a toolbox on it, and a runner that really runs commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from forge.git import Actor, ActorKind, Repository, WorkInProgressVFS
from forge.sandbox import Limits
from forge.sandbox import run as run_confined
from forge.tools.commands import CommandOutcome, Runner
from forge.tools.registry import builtin_tools
from forge.tools.tool import ToolOutcome
from forge.tools.toolbox import Toolbox
from tests.conftest import MakeRepo
from tests.support.toolboxes import open_toolbox

AGENT = Actor(ActorKind.AGENT, "agent")

FILES: dict[str, str | bytes] = {
    "README.md": "# Demo\n\nA small thing.\n",
    "src/app.py": (
        "import os\n\n\ndef greet(name):\n    return f'Hello {name}'\n\n\ndef main():\n    print(greet('you'))\n"
    ),
    "src/names.py": "NAMES = ['ada', 'bob']\n",
    "src/windows.py": b"def one():\r\n    return 1\r\n\r\n\r\ndef two():\r\n    return 2\r\n",
    "data/logo.png": b"\x89PNG\x00\x01\x02",
    "data/latin.txt": b"caf\xe9\n",
    "config.json": '{"a": 1}\n',
    ".forge/session/0001.json": '{"secret": "greet"}\n',
}


@dataclass
class Bench:
    """One turn: a workspace and its toolbox."""

    repo: Repository
    vfs: WorkInProgressVFS
    box: Toolbox

    def run(self, tool: str, **arguments: Any) -> ToolOutcome:
        return self.box.run(self.vfs, tool, arguments)

    def ok(self, tool: str, **arguments: Any) -> str:
        done = self.run(tool, **arguments)
        assert not done.failed, done.text
        return done.text

    def no(self, tool: str, **arguments: Any) -> str:
        """A call that fails and leaves everything as it was."""
        before = dict(self.vfs.pending)
        done = self.run(tool, **arguments)
        assert done.failed, done.text
        assert dict(self.vfs.pending) == before
        return done.text

    def text(self, path: str) -> str:
        return self.vfs.read_file(path)


@pytest.fixture
def runner_for(tmp_path: Path) -> Callable[[Repository], Runner]:
    def make(repo: Repository) -> Runner:
        def run(vfs: WorkInProgressVFS, command: Sequence[str], *, seconds: float) -> CommandOutcome:
            with repo.materialize(vfs, root=tmp_path / "directories") as directory:
                result = run_confined(command, directory.path, Limits(seconds=seconds))
                changes = directory.collect_changes()
                notes = (*result.notes, *map(str, directory.notes))
            return CommandOutcome(
                result.exit_code, result.stdout_text, result.timed_out, result.limited, changes, notes
            )

        return run

    return make


@pytest.fixture
def bench(make_repo: MakeRepo, runner_for: Callable[[Repository], Runner]) -> Callable[..., Bench]:
    def make(files: Mapping[str, str | bytes] | None = None, *, symlinks: Mapping[str, str] | None = None) -> Bench:
        repo = Repository.open(make_repo(FILES if files is None else files, symlinks=symlinks or {}))
        repo.create_branch("work", actor=AGENT)
        vfs = repo.workspace("work", actor=AGENT)
        return Bench(repo, vfs, open_toolbox(builtin_tools(runner_for(repo), asks=True)))

    return make
