"""How the tests of a branch run: the command that a person set, else every suite that the files show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from forge.errors import InvalidInput
from forge.git import VFS, Repository
from forge.git.process import disk
from forge.tools.suites.discovery import suites
from forge.tools.suites.suite import Suite, named

SETTING = "forge.testCommand"
Origin = Literal["project", "repository", "files", "none"]
_LONGEST = 1_000


@dataclass(frozen=True, slots=True)
class TestCommand:
    """`origin` is who decides: the project, the repository, or what the files show."""

    __test__ = False  # not a test class, whatever its name looks like to a test runner

    suites: tuple[Suite, ...]
    origin: Origin

    @property
    def line(self) -> str:
        return "; ".join(suite.command for suite in self.suites)

    def __str__(self) -> str:
        match self.origin:
            case "none":
                return "no tests found yet"
            case "files":
                return ", ".join(f"`{suite.command}` ({suite.because})" for suite in self.suites)
            case _:
                return f"`{self.line}` (set for the {self.origin})"


def command_of(repo: Repository, vfs: VFS, *, project: str = "") -> TestCommand:
    """The answer for one branch. What a project sets comes before what its repository sets."""
    if project:
        return TestCommand((named(project),), "project")
    if command := repository_command(repo):
        return TestCommand((named(command),), "repository")
    found = suites(vfs)
    return TestCommand(found, "files" if found else "none")


def repository_command(repo: Repository) -> str:
    """What a person set for the repository, with Forge or in git's configuration. No branch can change either."""
    with disk.reporting():
        try:
            return _file(repo).read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return repo.configured(SETTING).strip()


def set_repository_command(repo: Repository, command: str) -> None:
    """An empty command goes back to git's configuration, else to what the files show."""
    text = checked_command(command)
    with disk.reporting():
        if not text:
            _file(repo).unlink(missing_ok=True)
            return
        _file(repo).parent.mkdir(parents=True, exist_ok=True)
        disk.replace_synced(_file(repo), f"{text}\n".encode())


def checked_command(command: str) -> str:
    text = command.strip()
    if len(text) > _LONGEST or not all(character.isprintable() for character in text):
        raise InvalidInput(
            "The test command is no single line.", hint=f"Give one shell line of at most {_LONGEST:,} characters."
        )
    return text


def _file(repo: Repository) -> Path:
    return repo.common_dir / "forge" / "test-command"
